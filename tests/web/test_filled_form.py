"""The form of a tool begins with the arguments of an earlier call."""

import pytest

from mcpyard.web.server_screens.filled_form import filled_form
from mcpyard.web.server_screens.schema_form import FormField, form_of

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "default": "unsaid"},
        "count": {"type": "integer"},
        "open": {"type": "boolean"},
        "size": {"enum": ["small", "large"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "home": {"type": "object", "properties": {"street": {"type": "string"}}},
        "kind": {"const": "plain"},
        "any": {},
        "way": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    },
}


def filled(**arguments: object) -> FormField | None:
    return filled_form(form_of(SCHEMA), arguments, "Enter it again.")


def field(form: FormField | None, key: str) -> FormField:
    assert form
    return next(each for each in form.children if each.key == key)


def test_values_stand_in_their_fields() -> None:
    form = filled(text="a\nb", count=3, open=False, size="large", any={"x": 1}, kind="plain")
    assert (field(form, "text").default, field(form, "text").kind) == ("a\nb", "long")
    assert (field(form, "count").default, field(form, "open").default) == ("3", "false")
    assert field(form, "size").default == '"large"'
    assert field(form, "any").default == '{\n  "x": 1\n}'
    form = filled(tags=["a", "b"], home={"street": "High"})
    assert [each.default for each in field(form, "tags").items] == ["a", "b"]
    assert field(field(form, "home"), "street").default == "High"


def test_what_was_not_given_is_empty() -> None:
    form = filled()
    assert field(form, "text").default == ""
    assert field(form, "kind").default == '"plain"'


def test_masked_texts_are_asked_for_again() -> None:
    again = field(filled(text="user:***"), "text")
    assert (again.default, again.required, again.description) == ("", True, "Enter it again.")


@pytest.mark.parametrize(
    "arguments",
    [
        {"unknown": 1},
        {"text": 1},
        {"text": ""},
        {"size": "huge"},
        {"any": "***"},
        {"tags": "a"},
        {"tags": [1]},
        {"home": {"street": "x", "city": "y"}},
        {"home": "x"},
        {"way": "x"},
    ],
)
def test_what_the_fields_cannot_show_is_left_to_json(arguments: dict[str, object]) -> None:
    assert filled(**arguments) is None
