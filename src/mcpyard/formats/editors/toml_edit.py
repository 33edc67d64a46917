"""One change to a TOML text each: add, change, remove or rename what is at a path.

A table has one of three forms, and keeps it: headers (its own, or only those of its sub-tables),
dotted keys under the header of a table above it, or braces. The functions here trust their
arguments; whether the text that comes out is right is for the guard to say.
"""

from collections.abc import Sequence

from mcpyard.formats.editors.jsonc_scan import Path
from mcpyard.formats.editors.toml_inline import put_in, rewritten, take_from
from mcpyard.formats.editors.toml_lines import put_after, put_below, spliced, take_out, top
from mcpyard.formats.editors.toml_scan import (
    Names,
    Sheet,
    Span,
    Statement,
    TomlContainer,
    descend,
    scan,
    tokens,
)
from mcpyard.formats.editors.toml_style import (
    dotted,
    dotted_lines,
    inline,
    pair_lines,
    rekeyed,
    table_lines,
)
from mcpyard.formats.editors.toml_values import Table, Toml, same


def covering(sheet: Sheet, path: Path) -> Statement | None:
    """The pair whose braces the path leads into."""
    for statement in sheet.statements:
        steps = len(statement.path)
        if statement.kind == "pair" and steps < len(path) and statement.path == path[:steps]:
            return statement
    return None


def at_path(box: TomlContainer, rest: Path) -> list[int]:
    """The positions of the items of a container that the rest of a path leads to."""
    if isinstance(rest[0], int):
        return [index for index in range(len(box.items)) if index == rest[0]]
    return [index for index, item in enumerate(box.items) if item.names == rest]


def array_end(sheet: Sheet, path: Names) -> int:
    """Where a new table of the list of tables at a path comes: behind the last, or at the end."""
    last = max(_under(sheet, path), default=None)
    return len(sheet.text) if last is None else _top_or_end(sheet, _section_end(sheet, last) + 1)


def stands_empty(sheet: Sheet, path: Path) -> bool:
    """Whether the table at a path is there even when it holds nothing."""
    exact = any(it.path == path for it in sheet.statements)
    return not path or exact or _value_span(sheet, path) is not None


def add(sheet: Sheet, table: Path, members: Table) -> str:
    """The text with new members in a table that exists; new tables are written with headers."""
    cover = covering(sheet, (*table, ""))
    if cover is not None:
        return _add_in_braces(sheet, table, members, cover)
    pairs: Table = {name: it for name, it in members.items() if not isinstance(it, dict)}
    tables: Table = {name: it for name, it in members.items() if isinstance(it, dict)}
    if not tables:
        return _add_pairs(sheet, table, pairs)
    if pairs:
        sheet = scan(_add_pairs(sheet, table, pairs))
    return _add_tables(sheet, table, tables)


def update(sheet: Sheet, path: Path, old: Table, new: Table) -> str:
    """The text with the table at a path changed from one value into another, key by key."""
    if old and not new and not stands_empty(sheet, path):
        return _readd(sheet, path, new)
    added = {name: it for name, it in new.items() if name not in old}
    gone = [name for name in old if name not in new]
    text = _add_to_form(sheet, path, added) if added else sheet.text
    for name in [name for name in old if name in new and not same(old[name], new[name])]:
        sheet = _fresh(sheet, text)
        text = change(sheet, (*path, name), old[name], new[name])
    return remove(_fresh(sheet, text), path, gone) if gone else text


def change(sheet: Sheet, path: Path, old: Toml, new: Toml) -> str:
    """The text with the value at a path changed from one into another."""
    if isinstance(old, dict) and isinstance(new, dict):
        return update(sheet, path, old, new)
    span = _value_span(sheet, path)
    if span is None:
        return _readd(sheet, path, new)
    written = sheet.text[slice(*span)]
    return spliced(sheet.text, [(*span, rewritten(written, old, new))])


def remove(sheet: Sheet, table: Path, names: Sequence[str]) -> str:
    """The text without some members of a table, and all that is below them."""
    cover = covering(sheet, (*table, ""))
    if cover is None:
        return take_out(sheet, [(*table, name) for name in names])
    box, rest = descend(sheet.text, cover.value, (*table, "")[len(cover.path) :])
    last = len(rest) - 1
    doomed = [
        i
        for i, it in enumerate(box.items)
        if it.names[:last] == rest[:last] and it.names[last] in names
    ]
    return take_from(sheet.text, box, doomed)


def rename(sheet: Sheet, path: Names, new_name: str) -> str:
    """The text with the last name of a path replaced wherever it is written."""
    cover = covering(sheet, path)
    text, last = sheet.text, len(path) - 1
    if cover is None:
        headers = [
            tokens(text, *it.key)[last - it.base]
            for it in sheet.statements
            if it.path[: len(path)] == path and it.base <= last
        ]
    else:
        box, rest = descend(text, cover.value, path[len(cover.path) :])
        hits = (item for item in box.items if item.names[: len(rest)] == rest)
        headers = [tokens(text, item.start, item.value)[len(rest) - 1] for item in hits]
    return spliced(
        text, [(it.start, it.end, rekeyed(text[it.start : it.end], new_name)) for it in headers]
    )


def _fresh(sheet: Sheet, text: str) -> Sheet:
    return sheet if sheet.text == text else scan(text)


def _readd(sheet: Sheet, path: Path, value: Toml) -> str:
    """A value in another form than before, which cannot take the place of the old one."""
    name = str(path[-1])
    removed = remove(sheet, path[:-1], [name])
    return add(scan(removed), path[:-1], {name: value})


def _add_to_form(sheet: Sheet, table: Path, members: Table) -> str:
    """Add to a table that exists: one of dotted keys gets dotted keys, whatever the values."""
    sibling = _last_dotted(sheet, table)
    if sibling is None or _under(sheet, table):
        return add(sheet, table, members)
    return _add_dotted(sheet, table, members, sibling)


def _value_span(sheet: Sheet, path: Path) -> Span | None:
    """Where the value at a path is written in one piece."""
    for statement in sheet.statements:
        if statement.kind == "pair" and statement.path == path:
            return statement.value, statement.end
    cover = covering(sheet, path)
    if cover is None:
        return None
    box, rest = descend(sheet.text, cover.value, path[len(cover.path) :])
    return next(((box.items[i].value, box.items[i].end) for i in at_path(box, rest)), None)


def _under(sheet: Sheet, path: Path) -> list[int]:
    """The positions of the headers at or below a path."""
    statements = enumerate(sheet.statements)
    return [i for i, it in statements if it.kind != "pair" and it.path[: len(path)] == path]


def _last_dotted(sheet: Sheet, table: Path) -> Statement | None:
    """The last pair that reaches into a table from the header of one above it."""
    dotted = (
        it
        for it in reversed(sheet.statements)
        if it.kind == "pair"
        and it.base < len(table) < len(it.path)
        and it.path[: len(table)] == table
    )
    return next(dotted, None)


def _section_end(sheet: Sheet, index: int) -> int:
    """The position of the last pair under a header, or of the header; before the first: -1."""
    statements = sheet.statements
    while index + 1 < len(statements) and statements[index + 1].kind == "pair":
        index += 1
    return index


def _top_or_end(sheet: Sheet, index: int) -> int:
    return top(sheet, index) if index < len(sheet.statements) else len(sheet.text)


def _add_in_braces(sheet: Sheet, table: Path, members: Table, cover: Statement) -> str:
    box, rest = descend(sheet.text, cover.value, (*table, "")[len(cover.path) :])
    prefix = tuple(map(str, rest[:-1]))
    items = [f"{dotted((*prefix, name))} = {inline(it)}" for name, it in members.items()]
    return put_in(sheet.text, box, ", ".join(items))


def _add_tables(sheet: Sheet, parent: Path, tables: Table) -> str:
    lines = table_lines(parent, tables)
    while parent and not _under(sheet, parent):
        parent = parent[:-1]
    last = max(_under(sheet, parent), default=-1)
    limit = _top_or_end(sheet, _section_end(sheet, last) + 1)
    return put_after(sheet, limit, lines)


def _add_pairs(sheet: Sheet, table: Path, pairs: Table) -> str:
    sibling = _last_dotted(sheet, table)
    if sibling is not None:
        return _add_dotted(sheet, table, pairs, sibling)
    headers = _under(sheet, table)
    own = next((i for i in headers if sheet.statements[i].path == table), None)
    if own is not None or not table:
        return _add_to_section(sheet, -1 if own is None else own, pair_lines(pairs))
    if not headers:
        return _add_tables(sheet, table[:-1], {str(table[-1]): pairs})
    return put_after(sheet, top(sheet, headers[0]), [f"[{dotted(table)}]", *pair_lines(pairs)])


def _add_to_section(sheet: Sheet, header: int, lines: list[str]) -> str:
    last = _section_end(sheet, header)
    if last < 0:
        return put_after(sheet, _top_or_end(sheet, 0), lines)
    return put_below(sheet, sheet.statements[last], lines)


def _add_dotted(sheet: Sheet, table: Path, members: Table, sibling: Statement) -> str:
    """Add below the last dotted key of the table, the way that key spells the table."""
    shared = tokens(sheet.text, *sibling.key)[len(table) - 1 - sibling.base]
    prefix = sheet.text[sibling.start : shared.end]
    return put_below(sheet, sibling, list(dotted_lines(prefix, members)))
