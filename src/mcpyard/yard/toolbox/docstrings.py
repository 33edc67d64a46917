"""Descriptions of parameters in docstrings, as Google's style, NumPy's and reST write them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

_ARGS: Final = re.compile(r"(?:Args|Arguments|Parameters):?")
_NUMPY_LINE: Final = re.compile(r"-{3,}")
_ENTRY: Final = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY_ENTRY: Final = re.compile(r"\*{0,2}(\w+)(?:\s*:.*)?$")
_REST: Final = re.compile(r":param\s+(?:[^:]*\s)?(\w+):\s*(.*)")


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring without the section on its parameters, and that section by parameter."""

    description: str
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])


def read_docstring(text: str) -> Docstring:
    """What a docstring, without its indentation, says."""
    others: list[str] = []
    arguments: dict[str, str] = {}
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        if match := _REST.match(line):
            _note(arguments, match[1], match[2], _take_indented(lines))
        elif _ARGS.fullmatch(line.strip()) and not line.startswith(" "):
            _read_section(arguments, lines)
        else:
            others.append(line)
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(others)).strip()
    return Docstring(description, arguments)


def _read_section(arguments: dict[str, str], lines: list[str]) -> None:
    if _is_underlined(lines):
        lines.pop(0)
        while lines and not _is_underlined(lines[1:]) and (match := _NUMPY_ENTRY.match(lines[0])):
            lines.pop(0)
            _note(arguments, match[1], "", _take_indented(lines))
        return
    section = _take_indented(lines)
    indent = min((_indent(each) for each in section if each.strip()), default=0)
    name = ""
    for line in section:
        match = _ENTRY.fullmatch(line.strip()) if _indent(line) == indent else None
        if match:
            name = match[1]
        if name:
            _note(arguments, name, match[2] if match else line, [])


def _is_underlined(lines: list[str]) -> bool:
    """Whether the lines begin with the dashes under a heading."""
    return bool(lines) and bool(_NUMPY_LINE.fullmatch(lines[0].strip()))


def _take_indented(lines: list[str]) -> list[str]:
    """Take the lines that are indented, and empty ones among them."""
    taken: list[str] = []
    while lines and (not lines[0].strip() or lines[0].startswith((" ", "\t"))):
        taken.append(lines.pop(0))
    return taken


def _note(arguments: dict[str, str], name: str, text: str, more: list[str]) -> None:
    words = " ".join([arguments.get(name, ""), text, *more]).split()
    arguments[name] = " ".join(words)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
