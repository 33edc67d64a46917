"""The servers of other programs in forms: filled in from a file, and read back as a patch.

Only what somebody changed is in the patch, so that an edit touches nothing else in the file.
"""

from typing import Final

from mcpyard.domain.narrowing import is_object
from mcpyard.web.server_screens.definitions import (
    MASK,
    STDIO,
    TRANSPORTS,
    Fields,
    Pair,
    milliseconds,
    pairs_of,
)
from mcpyard.yard.views.clients import EntryView

_SSE: Final = "sse"
_PAIRS: Final = frozenset({"env", "headers"})


def fields_of_entry(entry: EntryView) -> Fields:
    """The fields of a server as a program's file has it."""
    remote = entry.type if entry.type in TRANSPORTS and entry.type != STDIO else "http"
    return Fields(
        name=entry.name,
        transport=remote if entry.url else STDIO,
        command=entry.command or "",
        args=tuple(entry.args or ()),
        env=pairs_of(entry.env),
        cwd=entry.cwd or "",
        url=entry.url or "",
        headers=pairs_of(entry.headers),
        timeout="" if entry.timeout is None else str(round(entry.timeout)),
        enabled=entry.enabled,
    )


def patch_of_entry(fields: Fields, entry: EntryView) -> dict[str, object]:
    """The merge patch that turns what a file says into what was filled in."""
    before = fields_of_entry(entry)
    was = _form_values(before)
    patch = {word: value for word, value in _form_values(fields).items() if value != was[word]}
    for word in _PAIRS & patch.keys():
        patch[word] = _merged(was[word], patch[word])
    if fields.transport != before.transport and (entry.type or fields.transport == _SSE):
        patch["type"] = fields.transport
    return patch


def _form_values(fields: Fields) -> dict[str, object]:
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


def _values(pairs: tuple[Pair, ...]) -> dict[str, object] | None:
    return {each.name: MASK if each.kept else each.value for each in pairs} or None


def _merged(before: object, after: object) -> object:
    """A patch of pairs: those that are gone are said to be."""
    if not is_object(after):
        return None
    gone = dict.fromkeys(before) if is_object(before) else {}
    return {**gone, **after}
