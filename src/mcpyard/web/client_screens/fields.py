"""The servers of other programs in forms: filled in from a file, and read back as a patch.

Only what somebody changed is in the patch, so that an edit touches nothing else in the file.
"""

from typing import Final, cast

from mcpyard.web.server_screens.definitions import (
    MASK,
    STDIO,
    TRANSPORTS,
    Fields,
    Pair,
    fields_of_record,
    milliseconds,
)
from mcpyard.yard.records import Record

_SSE: Final = "sse"
_PAIRS: Final = frozenset({"env", "headers"})


def fields_of_entry(record: Record) -> Fields:
    """The fields of a server as a program's file has it."""
    given = {word: value for word, value in record.items() if value is not None}
    type_ = str(record["type"] or "")
    remote = type_ if type_ in TRANSPORTS and type_ != STDIO else "http"
    adapted: Record = {
        "transport": remote if record["url"] else STDIO,
        "timeout": _number(record["timeout"]),
        "scope": "",
    }
    return fields_of_record(given | adapted)


def patch_of_entry(fields: Fields, record: Record) -> Record:
    """The merge patch that turns what a file says into what was filled in."""
    before = fields_of_entry(record)
    was = _said(before)
    patch = {word: value for word, value in _said(fields).items() if value != was[word]}
    for word in _PAIRS & patch.keys():
        patch[word] = _merged(was[word], patch[word])
    if fields.transport != before.transport and (record["type"] or fields.transport == _SSE):
        patch["type"] = fields.transport
    return patch


def _said(fields: Fields) -> Record:
    """Every word of the form; those of the other way to reach a server say nothing."""
    local = fields.local
    return {
        "name": fields.name,
        "enabled": fields.enabled,
        "timeout": milliseconds(fields.timeout) if fields.timeout else None,
        "command": (fields.command or None) if local else None,
        "args": ([*fields.args] or None) if local else None,
        "cwd": (fields.cwd or None) if local else None,
        "env": _values(fields.env) if local else None,
        "url": None if local else fields.url or None,
        "headers": None if local else _values(fields.headers),
    }


def _values(pairs: tuple[Pair, ...]) -> Record | None:
    return {each.name: MASK if each.kept else each.value for each in pairs} or None


def _merged(before: object, after: object) -> object:
    """A patch of pairs: those that are gone are said to be."""
    if after is None:
        return None
    gone = dict.fromkeys(cast("Record", before or {}))
    return gone | cast("Record", after)


def _number(value: object) -> str:
    return str(round(value)) if isinstance(value, int | float) else ""
