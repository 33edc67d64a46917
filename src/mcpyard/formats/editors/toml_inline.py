"""Items put into, taken out of and changed in inline tables and arrays.

Both may run over many lines with comments on them: what is on lines of its own comes and goes with
its lines, the comment that ends such a line included, and any other comment stays. Taking out an
item that was put in at the end gives back the bytes.
"""

import re
from collections.abc import Sequence
from typing import Final

from mcpyard.formats.editors.jsonc_values import changed_elements, left_out
from mcpyard.formats.editors.toml_lines import spliced
from mcpyard.formats.editors.toml_scan import FILLER, Span, TomlContainer, TomlItem, container
from mcpyard.formats.editors.toml_style import inline, key, newline_of
from mcpyard.formats.editors.toml_values import Table, Toml, same

_AFTER_ITEM: Final = re.compile(rf"{FILLER},")
_REST_OF_LINE: Final = re.compile(r"[ \t]*+(?:#[^\r\n]*+)?(?=\r?\n)")
_INDENT: Final = re.compile(r"[ \t]*+")
_BLANK: Final = " \t\r\n"
_STEP: Final = "  "
"""How far in the first item of braces stands whose lines are empty."""


def put_in(text: str, box: TomlContainer, written: str) -> str:
    """The text with one more item at the end of a container."""
    return _put_at(text, box, len(box.items), written)


def take_from(text: str, box: TomlContainer, doomed: Sequence[int]) -> str:
    """The text without some items of a container, and their commas."""
    for index in reversed(doomed):
        text = spliced(text, [(*cut, "") for cut in _cuts(text, box, index)])
        box = container(text, box.opening)
    return text


def rewritten(written: str, old: Toml, new: Toml) -> str:
    """A value as it is written, changed into a new one; what stays of it keeps its spelling."""
    if same(old, new):
        return written
    if isinstance(old, dict) and isinstance(new, dict):
        return _rewritten_table(written, old, new)
    if isinstance(old, list) and isinstance(new, list):
        return _rewritten_array(written, old, new)
    return inline(new)


def _rewritten_table(written: str, old: Table, new: Table) -> str:
    box = container(written, 0)
    if any(len(item.names) > 1 for item in box.items):
        return inline(new)
    stable = [item for item in box.items if item.names[0] in new]
    changes = [_replaced(written, it, old[it.names[0]], new[it.names[0]]) for it in stable]
    text = spliced(written, changes)
    for name in [name for name in new if name not in old]:
        text = put_in(text, container(text, 0), f"{key(name)} = {inline(new[name])}")
    box = container(text, 0)
    return take_from(text, box, [i for i, it in enumerate(box.items) if it.names[0] not in new])


def _rewritten_array(written: str, old: list[Toml], new: list[Toml]) -> str:
    gone = left_out(old, new, same)
    if gone is not None:
        text = take_from(written, container(written, 0), gone)
        return text if new or "#" in text else inline(new)
    if not old and "#" not in written:
        return inline(new)
    start, end, fresh = changed_elements(old, new, same)
    shared = start + min(end - start, len(fresh))
    text = take_from(written, container(written, 0), range(shared, end))
    for at, value in enumerate(fresh[shared - start :], shared):
        text = _put_at(text, container(text, 0), at, inline(value))
    items = container(text, 0).items
    return spliced(text, [_replaced(text, items[i], old[i], new[i]) for i in range(start, shared)])


def _replaced(text: str, item: TomlItem, old: Toml, new: Toml) -> tuple[int, int, str]:
    return item.value, item.end, rewritten(text[item.value : item.end], old, new)


def _put_at(text: str, box: TomlContainer, index: int, written: str) -> str:
    if not box.items:
        return _put_first(text, box, written)
    if index == 0:
        at = box.items[0].start
        own_line = _starts_line(text, at)
        gap = newline_of(text) + _indent(text, at) if own_line else " "
        return f"{text[:at]}{written},{gap}{text[at:]}"
    return _put_behind(text, box, index - 1, written)


def _put_first(text: str, box: TomlContainer, written: str) -> str:
    pad = text[box.opening + 1 : box.closing]
    if "\n" not in pad:
        at = box.opening + 1
        return text[:at] + pad + written + text[at:]
    at = _line_end_above(text, box.closing)
    indent = _indent(text, box.closing) + _STEP
    return text[:at] + newline_of(text) + indent + written + text[at:]


def _put_behind(text: str, box: TomlContainer, index: int, written: str) -> str:
    item = box.items[index]
    comma = _comma_end(text, item)
    rest = _REST_OF_LINE.match(text, comma or item.end)
    if not _starts_line(text, item.start) or (comma and rest is None):
        return f"{text[: item.end]}, {written}{text[item.end :]}"
    at = rest.end() if rest else item.end
    line = newline_of(text) + _indent(text, item.start) + written
    if comma:
        return f"{text[:at]}{line},{text[at:]}"
    return f"{text[: item.end]},{text[item.end : at]}{line}{text[at:]}"


def _cuts(text: str, box: TomlContainer, index: int) -> list[Span]:
    """What goes with an item, in the order of the text: its lines or itself, and a comma."""
    item, comma = box.items[index], _comma_end(text, box.items[index])
    before = box.items[index - 1] if index else None
    following = box.items[index + 1].start if index + 1 < len(box.items) else None
    # A comma that follows on another line may have comments in front of it, which stay.
    beside = comma is not None and "\n" not in text[item.end : comma]
    end = comma if comma is not None and beside else item.end
    if cut := _own_lines(text, item, end):
        cuts = [cut]
    elif following is not None and beside and not text[end:following].strip(_BLANK):
        cuts = [(item.start, following)]
    elif following is None and before and "#" not in text[before.end : item.start]:
        return [(before.end, item.end)]
    elif len(box.items) == 1 and "\n" not in _around(text, box, item):
        cuts = [(item.start, box.closing)]
    else:
        cuts = [(item.start, end)]
    if comma is not None and not beside:
        return [*cuts, (comma - 1, comma)]
    if comma is None and before and (other := _comma_end(text, before)):
        return [(other - 1, other), *cuts]
    return cuts


def _own_lines(text: str, item: TomlItem, end: int) -> Span | None:
    """The lines of an item that has them for itself, with the line end in front of them."""
    rest = _REST_OF_LINE.match(text, end)
    if rest is None or not _starts_line(text, item.start):
        return None
    return _line_end_above(text, item.start), rest.end()


def _around(text: str, box: TomlContainer, item: TomlItem) -> str:
    return text[box.opening : item.start] + text[item.end : box.closing]


def _comma_end(text: str, item: TomlItem) -> int | None:
    match = _AFTER_ITEM.match(text, item.end)
    return match.end() if match else None


def _line_end_above(text: str, at: int) -> int:
    """Where the line above that of an offset ends, its line end not included."""
    end = _line_start(text, at) - 1
    return end - 1 if text[end - 1] == "\r" else end


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _starts_line(text: str, at: int) -> bool:
    return not text[_line_start(text, at) : at].strip(_BLANK)


def _indent(text: str, at: int) -> str:
    match = _INDENT.match(text, _line_start(text, at))
    return match[0] if match else ""
