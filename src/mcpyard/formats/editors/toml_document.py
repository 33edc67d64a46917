"""A TOML text that was read: its value, and where everything stands.

What is read is TOML 1.1. Nothing that is written needs it, for some programs read TOML 1.0 alone.
"""

import re
import tomllib
from dataclasses import dataclass, field
from typing import Final

import tomli

from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.domain.nesting import nested_deeper
from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_lines import Lines
from mcpyard.formats.editors.jsonc_scan import BOM, Path
from mcpyard.formats.editors.jsonc_values import has_value, value_at
from mcpyard.formats.editors.patterns import NO_PROGRESS, NoProgress
from mcpyard.formats.editors.toml_edit import covering
from mcpyard.formats.editors.toml_scan import Sheet, container, scan
from mcpyard.formats.editors.toml_values import Table

_WHERE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_NAMES: Final = re.compile(r"\(('[^']*'(?:, '[^']*')*),?\)")
_MANY_DIGITS: Final = re.compile(r"(?<![0-9_])[0-9_]{4300,}")
_LONG_KEY: Final = re.compile(rf"(?<![\w.-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{2 * MAX_DEPTH}}}")
"""The parser takes the square of a key's length, before anybody can see how deep it leads."""


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """A text that was read, its value, and where everything stands."""

    text: str
    file: str
    value: Table
    sheet: Sheet = field(repr=False, compare=False)
    _lines: Lines = field(repr=False, compare=False)
    _offsets: dict[int, dict[Path, int]] = field(
        default_factory=dict[int, dict[Path, int]], repr=False, compare=False
    )

    @property
    def newer(self) -> Problem | None:
        """The first thing that TOML 1.0 does not have, if there is one."""
        return newer_syntax(self.text, self.file)

    def has(self, path: Path) -> bool:
        """Whether there is a value at the path."""
        return has_value(self.value, path)

    def place(self, path: Path) -> SourceLocation:
        """Where the value at the path starts, or the header or first dotted key of a table.

        Raises:
            LookupError: there is none.
        """
        value_at(self.value, path)
        # Every entry of a file is asked for its place: a search for each would take the square.
        if len(path) not in self._offsets:
            self._offsets[len(path)] = _offsets(self.sheet, len(path))
        offset = self._offsets[len(path)].get(path)
        return self._lines.place(_inline(self.sheet, path) if offset is None else offset)


def parse(text: str, *, file: str = "") -> TomlDocument:
    """Read TOML, with or without a BOM, of a file with that name.

    Raises:
        DocumentBroken: the text cannot be read; its problem says where and why.
    """
    if _LONG_KEY.search(text):
        raise _nested(file)
    try:
        value = tomli.loads(text.removeprefix(BOM))
    except ValueError as error:
        raise _broken(text, file, str(error)) from None
    except RecursionError:
        raise _nested(file) from None
    if nested_deeper(value, MAX_DEPTH):
        raise _nested(file)
    try:
        return TomlDocument(text, file, value, scan(text), Lines(text, file))
    except NoProgress as error:
        place = Lines(text, file).place(error.offset)
        raise DocumentBroken.of(Problem("", NO_PROGRESS, place)) from None


def newer_syntax(text: str, file: str = "") -> Problem | None:
    """What keeps a text that is TOML 1.1 from being TOML 1.0, and where."""
    try:
        tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        return _broken(text, file, str(error)).problems[0]
    return None


def _broken(text: str, file: str, message: str) -> DocumentBroken:
    where = _WHERE.search(message)
    if where is None:
        digits = _MANY_DIGITS.search(text)
        offset = digits.start() if digits else 0
        place = Lines(text, file).place(offset)
        return DocumentBroken.of(Problem("", "the number has too many digits", place))
    sentence = message[0].lower() + message[1 : where.start()]
    sentence = _NAMES.sub(lambda it: it[1].replace("', '", ".").strip("'"), sentence)
    if where[1]:
        place = SourceLocation(file, int(where[1]), int(where[2]))
    else:
        place = Lines(text, file).place(len(text))
    return DocumentBroken.of(Problem("", sentence, place))


def _nested(file: str) -> DocumentBroken:
    sentence = f"nested too deeply: more than {MAX_DEPTH} levels"
    return DocumentBroken.of(Problem("", sentence, SourceLocation(file, 1, 1)))


def _offsets(sheet: Sheet, length: int) -> dict[Path, int]:
    """The offset of each path of a length that a statement is at, or below."""
    at: dict[Path, int] = {} if length else {(): sheet.start}
    below: dict[Path, int] = {}
    for statement in sheet.statements:
        if len(statement.path) == length:
            at.setdefault(statement.path, statement.value)
        else:
            below.setdefault(statement.path[:length], statement.start)
    # What is shorter than that length is below nothing that is asked for.
    return {**below, **at}


def _inline(sheet: Sheet, path: Path) -> int:
    """The offset of a path that no statement is at or below: it is in the value of one."""
    cover = covering(sheet, path)
    return _inline_offset(sheet.text, cover.value, path[len(cover.path) :]) if cover else 0


def _inline_offset(text: str, at: int, rest: Path) -> int:
    while rest:
        items = container(text, at).items
        step = rest[0]
        if isinstance(step, int):
            at, rest = items[step].value, rest[1:]
            continue
        item = next(it for it in items if it.names[: len(rest)] == rest[: len(it.names)])
        if len(item.names) > len(rest):
            return item.start
        at, rest = item.value, rest[len(item.names) :]
    return at
