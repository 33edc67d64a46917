"""Where the members of a JSON or JSONC text stand, at the speed of the C decoder.

Only the containers on the wanted path are walked in Python; everything beside it is skipped by
`raw_decode`, which gives its value in the same go. Comments and trailing commas are blanked
beforehand, same length, so that every offset holds in the text as written.

A text that cannot be read is read a second time by `jsonc_faults`, slowly, for a sentence that a
person understands: the quick way need not know why it failed.
"""

import datetime as dt
import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, NoReturn, TypeAlias

from msgspec import Struct

from mcpyard.domain.errors import DocumentBroken, Problem
from mcpyard.formats.editors.jsonc_faults import find_fault
from mcpyard.formats.editors.jsonc_lines import BOM, Lines
from mcpyard.formats.editors.patterns import COMMENT, advanced, repeated

Moment: TypeAlias = dt.datetime | dt.date | dt.time
Json: TypeAlias = "bool | int | float | str | Moment | list[Json] | dict[str, Json] | None"
"""A value of a file: JSON has no moments and TOML no null, which `plain` of each sees to."""

Path: TypeAlias = tuple[str | int, ...]

# The empty name walks the outermost container whether or not it has such a member.
_NEW_FILE: Final = "{}\n"
OUTERMOST: Final[Path] = ("",)

_ESCAPES: Final = repeated(r'\\.[^"\\]*+')
STRING: Final = rf'"[^"\\]*+{_ESCAPES}"'
_FILLER: Final = repeated(rf"[ \t\r\n]++|{COMMENT}")
_REST: Final = repeated(rf'[^"/,]++|{STRING}|,(?!{_FILLER}[\]}}])')
_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_COLON: Final = re.compile(r"[ \t\r\n]*+:[ \t\r\n]*+")
_SIMPLE_KEY: Final = re.compile(r'"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:[ \t\r\n]*+')
_NEXT: Final = re.compile(r"[ \t\r\n]*+([,\]}])[ \t\r\n]*+")
_EXTRA: Final = re.compile(
    rf"{_REST}(?:(?P<comment>{COMMENT})|(?P<comma>,)|(?P<end>\Z)|(?P<stray>))",
    re.DOTALL,
)


def says_something(text: str) -> bool:
    """Whether a text holds more than white space."""
    return bool(text.strip("\ufeff \t\r\n"))


def begun(text: str) -> str:
    """The text of a JSON file; an empty one is that of a new file."""
    return text if says_something(text) else text + _NEW_FILE


class JsonItem(NamedTuple):
    """A member of an object, or an element of an array (no name, and the key's span is empty)."""

    name: str | None
    key_start: int
    key_end: int
    start: int
    end: int


class JsonContainer(NamedTuple):
    """An object or array: the offsets of its brackets, and its items in the order of the text."""

    opening: int
    closing: int
    items: list[JsonItem]


class JsonNode(Struct, frozen=True):
    """A value, where it stands, and the way from it along the path, as far as the path exists."""

    start: int
    end: int
    value: Json
    container: JsonContainer | None = None
    child: "JsonNode | None" = None

    def trail(self) -> Iterator["JsonNode"]:
        """This node and the ones below it on the path."""
        node: JsonNode | None = self
        while node is not None:
            yield node
            node = node.child


class JsonScan(NamedTuple):
    """A text that was read: its root, its blanked form, whether it is JSON as it is, the path."""

    root: JsonNode
    bare: str
    strict: bool
    path: Path = ()


def read(text: str, path: Path = (), *, file: str = "", comments: bool = True) -> JsonScan:
    """Read a text, walking the containers on the path.

    Raises:
        DocumentBroken: the text is not JSON, or not JSONC where comments are allowed.
    """
    try:
        return JsonScan(_root(text, path), text, strict=True, path=path)
    except (ValueError, RecursionError):
        bare = _blank(text) if comments else None
    if bare is None:
        raise broken(text, file, comments=comments)
    try:
        return JsonScan(_root(bare, path), bare, strict=False, path=path)
    except (ValueError, RecursionError):
        raise broken(text, file, comments=comments) from None


def scan(bare: str, at: int, path: Path) -> JsonNode:
    """The value that starts at an offset, walking the containers on the path.

    Raises:
        ValueError: what stands there is not JSON.
    """
    opener = bare[at : at + 1]
    if path and opener == "{":
        return _object(bare, at, path)
    if path and opener == "[":
        return _array(bare, at, path)
    value, end = _DECODER.raw_decode(bare, at)
    return JsonNode(at, end, value)


def read_key(bare: str, at: int) -> tuple[str, int, int]:
    """The name at an offset, where it ends, and where its value starts.

    Raises:
        ValueError: there is none.
    """
    if simple := _SIMPLE_KEY.match(bare, at):
        return simple[1], simple.end(1) + 1, simple.end()
    if bare[at : at + 1] != '"':
        raise ValueError
    name, end = _DECODER.raw_decode(bare, at)
    colon = _COLON.match(bare, end)
    if colon is None:
        raise ValueError
    return name, end, colon.end()


def next_item(bare: str, at: int, closer: str) -> tuple[int, int]:
    """Behind an item: where its container closes, or -1; and where what follows starts.

    Raises:
        ValueError: neither a comma nor the closer stands there.
    """
    match = _NEXT.match(bare, at)
    if match is None or match[1] not in {",", closer}:
        raise ValueError
    return (match.start(1) if match[1] == closer else -1), advanced(at, match.end())


def ends_at(bare: str, at: int) -> bool:
    """Whether nothing but white space follows."""
    return _after_space(bare, at) == len(bare)


def broken(text: str, file: str = "", *, comments: bool = True) -> DocumentBroken:
    """The error about a text that cannot be read, out of a second reading."""
    offset, sentence = find_fault(text, comments=comments) or (0, "the file cannot be read")
    return DocumentBroken.of(Problem("", sentence, Lines(text, file).place(offset)))


def positions(items: list[JsonItem], step: str | int) -> list[int]:
    """The positions of the items that a step of a path means: one, but for duplicate names."""
    return [i for i, item in enumerate(items) if step in (i, item.name)]


def extras(text: str) -> Iterator[tuple[str, int, int]]:
    """Kind and span of each comment and trailing comma, in order.

    The kind `end` stands for the end of the text, and `stray` for a place where the text is broken:
    what is given after that means nothing.
    """
    for match in _EXTRA.finditer(text):
        kind = match.lastgroup or ""
        yield kind, match.start(kind), match.end(kind)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


def _root(bare: str, path: Path) -> JsonNode:
    node = scan(bare, _after_space(bare, int(bare.startswith(BOM))), path)
    if not ends_at(bare, node.end):
        raise ValueError
    return node


def _after_space(bare: str, at: int) -> int:
    match = _SPACE.match(bare, at)
    return match.end() if match else at


def _object(bare: str, at: int, path: Path) -> JsonNode:
    items: list[JsonItem] = []
    value: dict[str, Json] = {}
    child: JsonNode | None = None
    closing, key_start = _opened(bare, at, "}")
    while closing < 0:
        name, key_end, start = read_key(bare, key_start)
        if name == path[0]:
            child = scan(bare, start, path[1:])
            value[name], end = child.value, child.end
        else:
            value[name], end = _DECODER.raw_decode(bare, start)
        items.append(JsonItem(name, key_start, key_end, start, end))
        closing, key_start = next_item(bare, end, "}")
    return JsonNode(at, closing + 1, value, JsonContainer(at, closing, items), child)


def _array(bare: str, at: int, path: Path) -> JsonNode:
    items: list[JsonItem] = []
    value: list[Json] = []
    child: JsonNode | None = None
    closing, start = _opened(bare, at, "]")
    while closing < 0:
        if len(items) == path[0]:
            child = scan(bare, start, path[1:])
            element, end = child.value, child.end
        else:
            element, end = _DECODER.raw_decode(bare, start)
        value.append(element)
        items.append(JsonItem(None, start, start, start, end))
        closing, start = next_item(bare, end, "]")
    return JsonNode(at, closing + 1, value, JsonContainer(at, closing, items), child)


def _opened(bare: str, at: int, closer: str) -> tuple[int, int]:
    start = _after_space(bare, at + 1)
    return (start if bare[start : start + 1] == closer else -1), start


def _blank(text: str) -> str | None:
    """The text with spaces for what strict JSON lacks, or nothing where that cannot be told."""
    parts: list[str] = []
    done = 0
    for kind, start, end in extras(text):
        parts.append(text[done:start])
        if kind == "stray" or (kind == "comma" and not _follows_value(parts)):
            return None
        parts.append(" " * (end - start))
        done = end
    return "".join(parts)


def _follows_value(parts: list[str]) -> bool:
    """Whether the text so far ends with a value: `[,]` must not turn into `[ ]`."""
    written = (part for part in reversed(parts) if not part.isspace() and part)
    return next(written, "[").rstrip(" \t\r\n")[-1] not in "[{"
