"""How a text is laid out, learnt from what stands nearest, and values written in that way.

Learning goes from the root down the path: each container overrules what its parent taught, so the
nearest neighbours win and the document at large fills what they do not show.
"""

import json
import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.formats.editors.jsonc_gaps import LINE_END
from mcpyard.formats.editors.jsonc_scan import BOM, STRING, Json, JsonContainer, JsonItem
from mcpyard.formats.editors.patterns import COMMENT

_LINE_WIDTH: Final = 80
# Enough to meet an array among the neighbours, without reading megabytes of history for it.
_SAMPLE: Final = 20_000
_INDENT: Final = re.compile(r"[ \t]*+")
_INDENTED: Final = re.compile(r'[\r\n]([ \t]++)["\[{]')
_EMPTY: Final = re.compile(r"[\[{][ \t\r\n]*+[\]}]")
_PLAIN_COLON: Final = re.compile(r" ?: ?")
_PLAIN_COMMA: Final = re.compile(r",([ \t]*+)")
_ARRAY: Final = re.compile(rf"{STRING}|{COMMENT}|\[([ \t]*+)([^ \t\]])", re.DOTALL)
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


class ContainerStyle(Struct, frozen=True):
    """How containers of one kind are written: on one line or not, and padded with what."""

    flat: bool
    pad: str


class Style(Struct, frozen=True):
    """How one container is laid out.

    Attributes:
        newline: the line end of the neighbouring line.
        unit: one step of indentation.
        outer: the indentation of the line on which the container opens.
        inner: the indentation of its items.
        flat: whether its items stand on one line.
        colon: the colon with the white space around it.
        gap: the white space after a comma on one line.
        objects: how the objects among its items are written, if there are any.
        arrays: the same for the arrays in it.
    """

    newline: str
    unit: str
    outer: str
    inner: str
    flat: bool = False
    colon: str = ": "
    gap: str = " "
    objects: ContainerStyle | None = None
    arrays: ContainerStyle | None = None


def style_of(text: str) -> Style:
    """The style of a document at large."""
    newline = LINE_END.search(text) if "\n" in text or "\r" in text else None
    indented = _INDENTED.search(text) if newline else None
    unit = indented[1] if indented else "  "
    outer = _indent_at(text, int(text.startswith(BOM)))
    return Style(newline[0] if newline else "\n", unit, outer, outer + unit)


def learn(text: str, container: JsonContainer, style: Style) -> Style:
    """The style of a container, given that of its parent."""
    outer = line_indent(text, container.opening, style.outer)
    if not container.items:
        return replace(
            style,
            # Up to the closing bracket: were the line end of the white space inside not taken up, a
            # CR in there and an LF from elsewhere would read as one line end.
            newline=_newline_before(text, container.closing, style.newline),
            outer=outer,
            inner=outer + style.unit,
            flat=style.flat or _empty_is_flat(text, container, style),
        )
    style = replace(style, outer=outer, flat=_is_flat(text, container))
    style = _learn_indent(text, container.items[-1], style)
    style = _learn_separators(text, container.items, style)
    return replace(
        style,
        newline=_newline_before(text, container.items[-1].end, style.newline),
        objects=_object_shape(text, container.items) or style.objects,
        arrays=_array_shape(text, container) or style.arrays,
    )


def line_indent(text: str, at: int, default: str) -> str:
    """The indentation of the line that holds an offset; the default for the first line."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    return _indent_at(text, start) if start else default


def shape_of(text: str, start: int, end: int) -> ContainerStyle | None:
    """How the container in a span is written; nothing can be learnt from an empty one."""
    if _EMPTY.match(text, start):
        return None
    return ContainerStyle(flat=not _breaks(text, start, end), pad=_indent_at(text, start + 1))


def render(value: Json, style: Style, indent: str) -> str:
    """A value in a style; the indentation is that of the line on which it starts."""
    if not isinstance(value, (dict, list)) or not value:
        return atom(value)
    if _goes_flat(value, style, indent):
        return _flat(value, style)
    inner = indent + style.unit
    if isinstance(value, dict):
        parts = [member(name, item, style, inner) for name, item in value.items()]
    else:
        parts = [render(item, style, inner) for item in value]
    opener, closer = "{}" if isinstance(value, dict) else "[]"
    start = style.newline + inner
    return opener + start + f",{start}".join(parts) + style.newline + indent + closer


def member(name: str, value: Json, style: Style, indent: str) -> str:
    """A member of an object, in a style."""
    return atom(name) + style.colon + render(value, style, indent)


def atom(value: Json) -> str:
    """A value that needs no layout; strings as they are, but for what must be escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _flat(value: Json, style: Style) -> str:
    comma = f",{style.gap}"
    if isinstance(value, dict) and value:
        pad = style.objects.pad if style.objects and style.objects.flat else ""
        parts = (atom(name) + style.colon + _flat(item, style) for name, item in value.items())
        return f"{{{pad}{comma.join(parts)}{pad}}}"
    if isinstance(value, list) and value:
        pad = style.arrays.pad if style.arrays and style.arrays.flat else ""
        return f"[{pad}{comma.join(_flat(item, style) for item in value)}{pad}]"
    return atom(value)


def _goes_flat(value: dict[str, Json] | list[Json], style: Style, indent: str) -> bool:
    if style.flat:
        return True
    if isinstance(value, dict):
        return style.objects is not None and style.objects.flat
    if any(isinstance(item, (dict, list)) and item for item in value):
        return False
    if style.arrays is not None:
        return style.arrays.flat
    return len(indent) + len(_flat(value, style)) <= _LINE_WIDTH


def _is_flat(text: str, container: JsonContainer) -> bool:
    items = container.items
    before = items[-2].end if len(items) > 1 else container.opening
    return not _breaks(text, before, items[-1].key_start)


def _breaks(text: str, start: int, end: int) -> bool:
    return text.find("\n", start, end) >= 0 or text.find("\r", start, end) >= 0


def _empty_is_flat(text: str, container: JsonContainer, style: Style) -> bool:
    start, end = container.opening + 1, container.closing
    if start < end and not _breaks(text, start, end):
        return True
    if text[container.opening] == "[":
        return style.arrays is None or style.arrays.flat
    return style.objects is not None and style.objects.flat


def _learn_indent(text: str, last: JsonItem, style: Style) -> Style:
    if style.flat:
        return replace(style, inner=style.outer + style.unit)
    inner = line_indent(text, last.key_start, style.outer)
    step = inner[len(style.outer) :] if inner.startswith(style.outer) else ""
    return replace(style, inner=inner, unit=step or style.unit)


def _learn_separators(text: str, items: list[JsonItem], style: Style) -> Style:
    last = items[-1]
    colon = text[last.key_end : last.start]
    if _PLAIN_COLON.fullmatch(colon):
        style = replace(style, colon=colon, gap=" " if colon.endswith(" ") else "")
    if style.flat and len(items) > 1:
        comma = _PLAIN_COMMA.fullmatch(text, items[-2].end, last.key_start)
        style = replace(style, gap=comma[1]) if comma else style
    return style


def _object_shape(text: str, items: list[JsonItem]) -> ContainerStyle | None:
    objects = (item for item in reversed(items) if text[item.start] == "{")
    shapes = (shape_of(text, item.start, item.end) for item in objects)
    return next(filter(None, shapes), None)


def _array_shape(text: str, container: JsonContainer) -> ContainerStyle | None:
    end = min(container.closing, container.opening + _SAMPLE)
    for match in _ARRAY.finditer(text, container.opening, end):
        if match[2]:
            return ContainerStyle(flat=match[2] not in "\r\n", pad=match[1])
    return None


def _newline_before(text: str, at: int, default: str) -> str:
    end = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    if not end:
        return default
    return "\r\n" if text.endswith("\r\n", 0, end) else text[end - 1]


def _indent_at(text: str, at: int) -> str:
    match = _INDENT.match(text, at)
    return match[0] if match else ""
