"""A form that begins with the arguments of an earlier call."""

from dataclasses import replace
from typing import Final

from mcpyard.domain.definition.secret_text import MASKED
from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.web.filters import pretty
from mcpyard.web.server_screens.schema_form import FormField

_PLAIN: Final = frozenset({"number", "integer", "boolean", "json", "enum"})


def filled_form(form: FormField, value: object, again: str) -> FormField | None:
    """A form with a value in its fields.

    Args:
        form: The form.
        value: What is to stand in it.
        again: What to say beside a text that was masked, and has to be entered again.

    Returns:
        None where the fields cannot show the value: it is edited as JSON then.
    """
    match form.kind:
        case "object":
            return _object(form, value, again)
        case "array":
            return _array(form, value, again)
        case "text" | "long":
            return _text(form, value, again)
        case "const":
            return form
        case kind if kind in _PLAIN:
            return _plain(form, value)
        case _:
            return None


def _object(form: FormField, value: object, again: str) -> FormField | None:
    if not is_object(value) or value.keys() - {each.key for each in form.children}:
        return None
    children: list[FormField] = []
    for child in form.children:
        filled = _empty(child)
        if child.key in value:
            filled = filled_form(child, value[child.key], again)
        if filled is None:
            return None
        children.append(filled)
    return replace(form, children=tuple(children))


def _array(form: FormField, value: object, again: str) -> FormField | None:
    if not is_array(value):
        return None
    items = [filled_form(form.children[0], each, again) for each in value]
    whole = tuple(each for each in items if each is not None)
    return replace(form, items=whole) if len(whole) == len(items) else None


def _text(form: FormField, value: object, again: str) -> FormField | None:
    if not isinstance(value, str) or not value:
        return None
    if MASKED in value:
        about = f"{form.description} {again}".strip()
        return replace(form, default="", description=about, required=True)
    return replace(form, kind="long" if "\n" in value else form.kind, default=value)


def _plain(form: FormField, value: object) -> FormField | None:
    text = pretty(value)
    is_option = form.kind != "enum" or text in {each for each, _ in form.options}
    return replace(form, default=text) if is_option and MASKED not in text else None


def _empty(form: FormField) -> FormField:
    """A field that was not given, which is not what it would begin with otherwise."""
    children = tuple(map(_empty, form.children))
    return form if form.kind == "const" else replace(form, default="", children=children)
