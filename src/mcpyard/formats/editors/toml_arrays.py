"""The lossless editor for lists of tables in TOML: `[[servers]]`, or braces in an array.

A list keeps its form, and so does each table in it; a new list is written with headers. Every edit
passes the guard of `toml_guard`, as in `toml`.
"""

from collections.abc import Mapping
from typing import cast

from mcpyard.formats.editors.jsonc_values import refuse, value_at, with_value, without
from mcpyard.formats.editors.toml_document import TomlDocument, parse
from mcpyard.formats.editors.toml_edit import add, array_end, change, covering
from mcpyard.formats.editors.toml_guard import TomlEdit
from mcpyard.formats.editors.toml_inline import put_in, take_from
from mcpyard.formats.editors.toml_lines import put_after, take_out
from mcpyard.formats.editors.toml_scan import Names, descend
from mcpyard.formats.editors.toml_style import element_lines, inline
from mcpyard.formats.editors.toml_values import Table, Toml, plain, pruned, same


def append_element(text: str, path: Names, value: Mapping[str, object]) -> str:
    """Add a table at the end of the list at the path; an absent list is added with it.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is something else at the path, or TOML has no such value.
    """
    document = parse(text)
    elements = _elements(document, path) if document.has(path) else []
    element = (*path, len(elements))
    new = cast("Table", plain(value, element))
    edited = _appended(document, path, len(elements), new)
    intended = with_value(document.value, path, [*elements, new])
    return TomlEdit(document, edited, intended, element if elements else path).guarded()


def change_element(text: str, path: Names, index: int, value: Mapping[str, object]) -> str:
    """Change what differs in a table of the list at the path.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such table, or TOML has no such value.
    """
    document, element = _at(text, path, index)
    old, new = value_at(document.value, element), plain(value, element)
    if same(old, new):
        return text
    edited = change(document.sheet, element, old, new)
    intended = with_value(document.value, element, new)
    return TomlEdit(document, edited, intended, element, frees=True).guarded()


def remove_element(text: str, path: Names, index: int) -> str:
    """Take out a table of the list at the path, with all that is below it and its comments.

    Raises:
        DocumentBroken: the text cannot be read.
        EditRefused: there is no such table.
    """
    document, element = _at(text, path, index)
    count = len(_elements(document, path))
    cover = covering(document.sheet, element)
    intended: Toml = without(document.value, element)
    if cover is None:
        edited = take_out(document.sheet, [element])
        if count == 1:
            # A list that only the headers of its tables stood for is gone with the last of them.
            intended = pruned(without(intended, path), path[:-1])
    else:
        box, _ = descend(text, cover.value, element[len(cover.path) :])
        edited = take_from(text, box, [index])
    return TomlEdit(document, edited, intended, element, (*path, count - 1)).guarded()


def _appended(document: TomlDocument, path: Names, count: int, new: Table) -> str:
    sheet = document.sheet
    cover = covering(sheet, (*path, count))
    if cover is not None and document.has(path):
        box, _ = descend(sheet.text, cover.value, (*path, count)[len(cover.path) :])
        return put_in(sheet.text, box, inline(new))
    if cover is not None:
        return add(sheet, path[:-1], {path[-1]: [new]})
    return put_after(sheet, array_end(sheet, path), element_lines(path, new))


def _at(text: str, path: Names, index: int) -> tuple[TomlDocument, tuple[str | int, ...]]:
    document = parse(text)
    if not document.has(path) or index >= len(_elements(document, path)):
        raise refuse((*path, index), "there is no such table")
    return document, (*path, index)


def _elements(document: TomlDocument, path: Names) -> list[Toml]:
    value = value_at(document.value, path)
    if not isinstance(value, list):
        raise refuse(path, "is not a list of tables", document.place(path))
    return value
