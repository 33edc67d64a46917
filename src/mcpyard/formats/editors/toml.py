"""The lossless editor for TOML: it changes one entry and keeps every other byte.

Comments, order, blank lines, line ends, a BOM and the spelling of values stay as they are. A table
keeps its form, be it headers, dotted keys or braces; a new one is written with headers. A comment
block directly above a header or key belongs to it, and goes with it.

Every edit passes the guard of `toml_guard`: a mistake of this editor is a refused edit, never a
damaged file.
"""

from collections.abc import Mapping

from mcpyard.formats.editors.jsonc_faults import MAX_DEPTH
from mcpyard.formats.editors.jsonc_values import refuse, renamed, value_at, with_value, without
from mcpyard.formats.editors.toml_document import TomlDocument, parse
from mcpyard.formats.editors.toml_edit import add, change, remove, rename, stands_empty
from mcpyard.formats.editors.toml_guard import TomlEdit
from mcpyard.formats.editors.toml_scan import Names
from mcpyard.formats.editors.toml_values import Table, Toml, name_fault, plain, same

__all__ = (
    "Names",
    "Table",
    "Toml",
    "TomlDocument",
    "parse",
    "put_table",
    "remove_table",
    "rename_table",
    "set_value",
)


def put_table(text: str, path: Names, value: Mapping[str, object]) -> str:
    """Add the table at the path, or change what differs in it.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there can be no such table, or TOML has no such value.
    """
    document = _read(text, path)
    if document.has(path):
        _require_table(document, path)
    return _set(document, path, plain(value, path))


def remove_table(text: str, path: Names) -> str:
    """Take out the table at the path: its headers, sub-tables, dotted keys and comments.

    A table above it that only its headers or keys stood for is gone with it.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such table.
    """
    document = _read(text, path)
    _require_table(document, path)
    edited = remove(document.sheet, path[:-1], path[-1:])
    return TomlEdit(document, edited, without(document.value, path), path).guarded()


def rename_table(text: str, path: Names, new_name: str) -> str:
    """Rename the table at the path, in each header and key that names it.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such table, or the new name is taken or none.
    """
    document = _read(text, path)
    _require_table(document, path)
    new_path = (*path[:-1], new_name)
    if new_path == path:
        return text
    if fault := name_fault(new_name):
        raise refuse(path, fault)
    if document.has(new_path):
        raise refuse(path, f'"{new_name}" already exists', document.place(new_path))
    edited = rename(document.sheet, path, new_name)
    intended = renamed(document.value, path, new_name)
    return TomlEdit(document, edited, intended, path, new_path).guarded()


def set_value(text: str, path: Names, value: object) -> str:
    """Give the key at the path a value; an absent one is added, with the tables above it.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there can be no such key, or TOML has no such value.
    """
    return _set(_read(text, path), path, plain(value, path))


def _set(document: TomlDocument, path: Names, new: Toml) -> str:
    value = document.value
    table = _table_of(document, path)
    intended = with_value(value, path, new)
    if table == path:
        old = value_at(value, path)
        if same(old, new):
            return document.text
        edited = change(document.sheet, path, old, new)
    else:
        first = path[len(table)]
        edited = add(document.sheet, table, {first: value_at(intended, (*table, first))})
    zone = _zone(document, path, table)
    return TomlEdit(document, edited, intended, zone, frees=True).guarded()


def _zone(document: TomlDocument, path: Names, table: Names) -> Names:
    """The entry an edit may touch: a table that lacks a header may get one for its new key."""
    zone = path[: len(table) + 1]
    held = stands_empty(document.sheet, zone[:-1])
    return zone if held else zone[:-1]


def _read(text: str, path: Names) -> TomlDocument:
    if not path:
        raise refuse(path, "an edit needs the path of a key")
    if fault := next(filter(None, map(name_fault, path)), None):
        raise refuse((), f"a path is made of names, but {fault}")
    if len(path) > MAX_DEPTH:
        raise refuse(path[:1], f"the path is longer than {MAX_DEPTH} steps")
    document = parse(text)
    for end in range(1, len(path)):
        above = path[:end]
        if document.has(above):
            _require_table(document, above)
    return document


def _require_table(document: TomlDocument, path: Names) -> None:
    if not document.has(path):
        raise refuse(path, "there is no such table")
    if not isinstance(value_at(document.value, path), dict):
        raise refuse(path, "is not a table", document.place(path))


def _table_of(document: TomlDocument, path: Names) -> Names:
    """The part of a path that exists."""
    end = len(path)
    while not document.has(path[:end]):
        end -= 1
    return path[:end]
