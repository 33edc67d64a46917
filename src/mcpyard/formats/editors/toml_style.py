"""How new TOML is written: keys, values, and the lines of a table."""

import datetime as dt
import re
from collections.abc import Iterator
from typing import Final

from mcpyard.formats.editors.jsonc_scan import Path
from mcpyard.formats.editors.toml_scan import Names
from mcpyard.formats.editors.toml_values import Table, Toml

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED: Final = re.compile(r'["\\\x00-\x1f\x7f]')
_NOT_LITERAL: Final = re.compile(r"['\x00-\x08\x0a-\x1f\x7f]")
_SHORT: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}


def newline_of(text: str) -> str:
    """The line end of a text: that of its first line."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def key(name: str) -> str:
    """One part of a key, bare where that is possible."""
    return name if _BARE.fullmatch(name) else string(name)


def rekeyed(written: str, name: str) -> str:
    """A new name for a key, in the quotes that the old one had without need."""
    if written[0] == "'" and not _NOT_LITERAL.search(name) and not _BARE.fullmatch(name):
        return f"'{name}'"
    if written[0] in "\"'" and _BARE.fullmatch(written[1:-1]) and _BARE.fullmatch(name):
        return written[0] + name + written[0]
    return key(name)


def dotted(path: Path) -> str:
    """A key of several parts; a header in a list of tables means the table above it."""
    return ".".join(key(step) for step in path if isinstance(step, str))


def string(value: str) -> str:
    """A basic string that escapes what it must and nothing else."""
    body = _ESCAPED.sub(lambda it: _SHORT.get(it[0], f"\\u{ord(it[0]):04X}"), value)
    return f'"{body}"'


def inline(value: Toml) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key(name)} = {inline(it)}" for name, it in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    if isinstance(value, str):
        return string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dt.datetime, dt.date, dt.time)):
        return value.isoformat().replace("+00:00", "Z")
    return repr(value)


def pair_lines(table: Table) -> list[str]:
    """The lines of the members of a table that are not tables themselves."""
    pairs = ((name, it) for name, it in table.items() if not isinstance(it, dict))
    return [f"{key(name)} = {inline(it)}" for name, it in pairs]


def element_lines(path: Names, table: Table) -> list[str]:
    """The lines of a new table in a list of tables, and of its own tables."""
    own = [f"[[{dotted(path)}]]", *pair_lines(table)]
    inner = table_lines(path, table)
    return [*own, *([""] if inner else []), *inner]


def table_lines(path: Path, tables: Table) -> list[str]:
    """The lines of the new tables in a table, and of theirs, each with its header.

    A table that holds nothing but tables needs no header: theirs imply it.
    """
    lines: list[str] = []
    for name, table in tables.items():
        if not isinstance(table, dict):
            continue
        inner = (*path, name)
        pairs = pair_lines(table)
        own = [f"[{dotted(inner)}]", *pairs] if pairs or not table else []
        for block in (own, table_lines(inner, table)):
            lines += [""] * bool(lines and block) + block
    return lines


def dotted_lines(prefix: str, value: Toml) -> Iterator[str]:
    """The lines of a value written with dotted keys."""
    if not isinstance(value, dict) or not value:
        yield f"{prefix} = {inline(value)}"
        return
    for name, inner in value.items():
        yield from dotted_lines(f"{prefix}.{key(name)}", inner)
