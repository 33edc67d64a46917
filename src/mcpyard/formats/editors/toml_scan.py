"""Where the statements of a TOML text stand: headers, pairs, and the items of inline values.

Only texts that the parser has read come here, so the patterns tell the parts of TOML apart and need
not prove it right. Offsets are those of the text as written, line ends and BOM included.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

import tomli

from mcpyard.formats.editors.jsonc_scan import BOM, Path
from mcpyard.formats.editors.patterns import NoProgress, advanced, repeated

Kind: TypeAlias = Literal["table", "array", "pair"]
Names: TypeAlias = tuple[str, ...]
Span: TypeAlias = tuple[int, int]

BLANK_LINES: Final = repeated(r"[ \t]*+\r?\n")
FILLER: Final = repeated(r"[ \t\r\n]++|#[^\n]*+")

_ESCAPES: Final = repeated(r'\\.[^"\\\n]*+')
_BASIC: Final = rf'"[^"\\\n]*+{_ESCAPES}"'
_LITERAL: Final = r"'[^'\n]*+'"
_LONG_ESCAPES: Final = repeated(r'(?:\\.|"{1,2}(?!"))[^"\\]*+')
_LONG_BASIC: Final = rf'"""[^"\\]*+{_LONG_ESCAPES}"{{3,5}}'
_QUOTES: Final = repeated(r"'{1,2}(?!')[^']*+")
_LONG_LITERAL: Final = rf"'''[^']*+{_QUOTES}'{{3,5}}"
STRING: Final = rf"(?:{_LONG_BASIC}|{_LONG_LITERAL}|{_BASIC}|{_LITERAL})"
_PART: Final = rf"(?:[A-Za-z0-9_-]++|{_BASIC}|{_LITERAL})"

_MORE_PARTS: Final = repeated(rf"[ \t]*+\.[ \t]*+{_PART}")
_KEY: Final = rf"{_PART}{_MORE_PARTS}"
_IDLE_LINES: Final = repeated(r"[ \t]*+(?:#[^\n]*+|\r)?\n")
# A date and its time may stand apart by a space, the only one that a value has outside of brackets.
_ATOM: Final = (
    rf"(?:{STRING}|[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [0-9][0-9:.Zz+-]*+|[^\s,\[\]{{}}#]++)"
)

_PARTS: Final = re.compile(_PART)
_BARE: Final = re.compile(r"[A-Za-z0-9_.-]++")
_MEMBER: Final = re.compile(rf"(?P<key>{_KEY})[ \t]*+=[ \t]*+(?P<value>{_ATOM})?", re.DOTALL)
_ELEMENT: Final = re.compile(rf"(?P<key>)(?:(?P<value>{_ATOM})|(?=[\[{{]))", re.DOTALL)
_STATEMENT: Final = re.compile(
    rf"{_IDLE_LINES}(?P<line>)[ \t]*+(?:"
    rf"(?P<header>\[\[?[ \t]*+(?P<names>{_KEY})[ \t]*+\]\]?)[^\r\n]*+|"
    rf"(?P<key>{_KEY})[ \t]*+=[ \t]*+(?:(?P<value>{_ATOM})[^\r\n]*+)?)",
    re.DOTALL,
)
_FILLER: Final = re.compile(FILLER)
_REST_OF_LINE: Final = re.compile(r"[^\r\n]*+")
_NO_BRACKETS: Final = repeated(rf"[^\[\]{{}}\"'#]++|{STRING}|#[^\n]*+")
_BRACKET: Final = re.compile(rf"{_NO_BRACKETS}([\[\]{{}}])", re.DOTALL)


class Token(NamedTuple):
    """One part of a key as it is written."""

    name: str
    start: int
    end: int


class Statement(NamedTuple):
    """A header or a pair.

    Attributes:
        kind: `table` for `[a]`, `array` for `[[a]]`, `pair` for `a = 1`.
        path: its path from the root, with the positions of the arrays of tables it is in.
        key: where its own key stands, whose parts `tokens` gives.
        base: how many steps of the path are those of the header above it.
        line: where its first line starts.
        start: where its key or bracket starts.
        value: where the value of a pair starts; a header is its own value.
        end: where its value or header ends.
        stop: where its last line ends, the comment on it included, the line end not.
    """

    kind: Kind
    path: Path
    key: Span
    base: int
    line: int
    start: int
    value: int
    end: int
    stop: int


class Sheet(NamedTuple):
    """A text and its statements in the order of the text; `start` is behind a BOM."""

    text: str
    start: int
    statements: list[Statement]


class TomlItem(NamedTuple):
    """A member of an inline table, or an element of an array (which has no names)."""

    names: Names
    start: int
    value: int
    end: int


class TomlContainer(NamedTuple):
    """An inline table or array: the offsets of its brackets, and its items."""

    opening: int
    closing: int
    items: list[TomlItem]


def scan(text: str) -> Sheet:
    """The statements of a text that is TOML."""
    start = int(text.startswith(BOM))
    return Sheet(text, start, list(_statements(text, start)))


def container(text: str, opening: int) -> TomlContainer:
    """The inline table or array that starts at an offset."""
    pattern = _MEMBER if text[opening] == "{" else _ELEMENT
    items: list[TomlItem] = []
    at = _end(_FILLER, text, opening + 1)
    while match := pattern.match(text, at):
        value, end = _value(text, match)
        items.append(TomlItem(_names(match["key"]), at, value, end))
        at = _end(_FILLER, text, advanced(at, end))
        if text[at] == ",":
            at = _end(_FILLER, text, at + 1)
    if text[at] not in "]}":
        raise NoProgress(at)
    return TomlContainer(opening, at, items)


def descend(text: str, opening: int, rest: Path) -> tuple[TomlContainer, Path]:
    """The innermost inline table on a path, and the steps of the path that are left in it."""
    box = container(text, opening)
    if isinstance(rest[0], int):
        return (box, rest) if rest[1:] == () else descend(text, box.items[rest[0]].value, rest[1:])
    for item in box.items:
        steps = len(item.names)
        if steps < len(rest) and item.names == rest[:steps]:
            return descend(text, item.value, rest[steps:])
    return box, rest


def tokens(text: str, start: int, end: int) -> list[Token]:
    """The parts of the key in a span; for an item, the span may hold its value as well."""
    parts = _PARTS.finditer(text, start, end)
    return [Token(_name(part[0]), *part.span()) for part in parts]


def _statements(text: str, at: int) -> Iterator[Statement]:
    table: Path = ()
    counts: dict[Path, int] = {}
    while match := _STATEMENT.match(text, at):
        if match["header"]:
            statement = _header(text, match, counts)
            table = statement.path
        else:
            statement = _pair(text, match, table)
        yield statement
        at = advanced(at, text.find("\n", statement.stop) + 1 or len(text))
    if any(line and not line.startswith("#") for line in map(str.strip, text[at:].split("\n"))):
        raise NoProgress(at)


def _header(text: str, match: re.Match[str], counts: dict[Path, int]) -> Statement:
    start, end = match.span("header")
    key, line, stop = match.span("names"), match.start("line"), match.end()
    path = _resolved(_names(match["names"]), counts)
    if not text.startswith("[[", start):
        return Statement("table", path, key, 0, line, start, start, end, stop)
    counts[path] = counts.get(path, 0) + 1
    path = (*path, counts[path] - 1)
    return Statement("array", path, key, 0, line, start, start, end, stop)


def _resolved(names: Names, counts: dict[Path, int]) -> Path:
    """The path that names in a header mean: within an array of tables, its last one."""
    if not counts:
        return names
    path: Path = names[:1]
    for name in names[1:]:
        path = (*path, counts[path] - 1, name) if path in counts else (*path, name)
    return path


def _pair(text: str, match: re.Match[str], table: Path) -> Statement:
    value, end = _value(text, match)
    stop = match.end() if match["value"] else _end(_REST_OF_LINE, text, end)
    key, line = match.span("key"), match.start("line")
    path = table + _names(match["key"])
    return Statement("pair", path, key, len(table), line, key[0], value, end, stop)


def _names(written: str) -> Names:
    if _BARE.fullmatch(written):
        return tuple(written.split("."))
    return tuple(_name(part) for part in _PARTS.findall(written))


def _name(part: str) -> str:
    if part[0] == '"' and "\\" in part:
        return next(iter(tomli.loads(f"{part} = 0")))
    return part[1:-1] if part[0] in "\"'" else part


def _value(text: str, match: re.Match[str]) -> Span:
    """The span of a value whose beginning was matched: all of it, unless it has brackets."""
    if match["value"]:
        return match.span("value")
    return match.end(), _closed(text, match.end())


def _closed(text: str, at: int) -> int:
    depth = 0
    while True:
        at = advanced(at, _end(_BRACKET, text, at))
        depth += 1 if text[at - 1] in "[{" else -1
        if not depth:
            return at


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
