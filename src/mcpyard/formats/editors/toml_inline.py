"""Items put into, taken out of and changed in inline tables and arrays.

An array may run over many lines with comments on them: what is on lines of its own comes and goes
with its lines, and a comment is left to the item it stands beside.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcpyard.formats.editors.toml_lines import spliced
from mcpyard.formats.editors.toml_scan import FILLER, Span, TomlContainer, TomlItem, container
from mcpyard.formats.editors.toml_style import inline, newline_of
from mcpyard.formats.editors.toml_values import Toml, same

_AFTER_ITEM: Final = re.compile(rf"{FILLER},")
_REST_OF_LINE: Final = re.compile(r"[ \t]*+(?:#[^\r\n]*+)?(?=\r?\n)")
_INDENT: Final = re.compile(r"[ \t]*+")
_BLANK: Final = " \t\r\n"


class ElementsChange(NamedTuple):
    """What the elements of an array between two positions turn into."""

    start: int
    end: int
    new: list[Toml]


def put_in(text: str, box: TomlContainer, written: str) -> str:
    """The text with one more item at the end of a container."""
    return _put_at(text, box, len(box.items), written)


def take_from(text: str, box: TomlContainer, doomed: Sequence[int]) -> str:
    """The text without some items of a container, and their commas."""
    for index in reversed(doomed):
        alone = len(box.items) == 1
        start, end = (box.items[0].start, box.closing) if alone else _span(text, box, index)
        text = text[:start] + text[end:]
        box = container(text, box.opening)
    return text


def rewritten(written: str, old: Toml, new: Toml) -> str:
    """A value as it is written, changed into a new one; elements that stay keep their spelling."""
    if same(old, new):
        return written
    if not isinstance(old, list) or not isinstance(new, list) or not old or not new:
        return inline(new)
    change = _change(old, new)
    box = container(written, 0)
    shared = min(change.end - change.start, len(change.new))
    doomed = range(change.start + shared, change.end)
    text = take_from(written, box, doomed) if doomed else written
    for offset, value in enumerate(change.new[shared:]):
        at = change.start + shared + offset
        text = _put_at(text, container(text, 0), at, inline(value))
    box = container(text, 0)
    places = range(change.start, change.start + shared)
    return spliced(text, [_replaced(text, box.items[i], old[i], new[i]) for i in places])


def _replaced(text: str, item: TomlItem, old: Toml, new: Toml) -> tuple[int, int, str]:
    return item.value, item.end, rewritten(text[item.value : item.end], old, new)


def _change(old: list[Toml], new: list[Toml]) -> ElementsChange:
    shortest = min(len(old), len(new))
    head = 0
    while head < shortest and same(old[head], new[head]):
        head += 1
    tail = 0
    while tail < shortest - head and same(old[-1 - tail], new[-1 - tail]):
        tail += 1
    return ElementsChange(head, len(old) - tail, new[head : len(new) - tail])


def _put_at(text: str, box: TomlContainer, index: int, written: str) -> str:
    if not box.items:
        pad = text[box.opening + 1 : box.closing]
        pad = "" if pad.strip(_BLANK) or "\n" in pad else pad
        at = box.opening + 1
        return text[:at] + pad + written + text[at:]
    if index == 0:
        at = box.items[0].start
        own_line = _starts_line(text, at)
        gap = newline_of(text) + _indent(text, at) if own_line else " "
        return f"{text[:at]}{written},{gap}{text[at:]}"
    return _put_behind(text, box, index - 1, written)


def _put_behind(text: str, box: TomlContainer, index: int, written: str) -> str:
    item = box.items[index]
    if not _starts_line(text, item.start):
        return f"{text[: item.end]}, {written}{text[item.end :]}"
    comma = _comma_end(text, item)
    done = comma or item.end
    rest = _REST_OF_LINE.match(text, done)
    at = rest.end() if rest else done
    line = newline_of(text) + _indent(text, item.start) + written
    if comma:
        return f"{text[:at]}{line},{text[at:]}"
    return f"{text[: item.end]},{text[item.end : at]}{line}{text[at:]}"


def _span(text: str, box: TomlContainer, index: int) -> Span:
    """What goes with an item of several: its lines if they are its own, or its comma."""
    item = box.items[index]
    end = _comma_end(text, item) or item.end
    rest = _REST_OF_LINE.match(text, end)
    if rest and _starts_line(text, item.start):
        return _line_start(text, item.start), text.index("\n", rest.end()) + 1
    if index + 1 < len(box.items):
        following = box.items[index + 1].start
        return item.start, following if not text[end:following].strip(_BLANK) else end
    return box.items[index - 1].end, item.end


def _comma_end(text: str, item: TomlItem) -> int | None:
    match = _AFTER_ITEM.match(text, item.end)
    return match.end() if match else None


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _starts_line(text: str, at: int) -> bool:
    return not text[_line_start(text, at) : at].strip(_BLANK)


def _indent(text: str, at: int) -> str:
    match = _INDENT.match(text, _line_start(text, at))
    return match[0] if match else ""
