"""Entries as hashes, and what a program cannot be told."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final, cast

from mcpyard.domain.sync.plan import EntryDigest
from mcpyard.formats.copying.references import ClientReference, Foreign, Part, parts
from mcpyard.formats.drift import leaves_of
from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.facts import PROJECT, Client, SwitchKind
from mcpyard.formats.fields import LOCAL_FIELDS, OAUTH_TEXTS, REMOTE_FIELDS, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.switches import switch_location
from mcpyard.yard.sync.source_file import is_of_project

_AS_HEADERS: Final = frozenset({Field.ENV_HEADERS, Field.BEARER})
_UNSAID: Final = frozenset(Field) - scope_ref_of("yard").shape.field_names.keys() - _AS_HEADERS
"""What no source has a word for: in a program it is of its user."""


def meaning_of(entry: Entry, ref: ClientScopeRef) -> str:
    """The hash of what an entry means to its program, however it is spelled."""
    leaves = {leaf: _ordered(value) for leaf, (value, _) in compared(entry, ref).items()}
    return _hash(repr(sorted(leaves.items())))


def compared(entry: Entry, ref: ClientScopeRef) -> dict[str, tuple[object, str]]:
    """Each thing that an entry says and that a source could say, as by `leaves_of`."""
    leaves, unsaid = leaves_of(entry, ref), _unsaid(entry)
    return {leaf: each for leaf, each in leaves.items() if leaf.partition(".")[0] not in unsaid}


def added_there(entry: Entry, fresh: Entry) -> dict[str, Any]:
    """What a program or its user added to an entry, which stays when the rest is written."""
    fields, unsaid = entry.set_fields().items(), _unsaid(entry) & _unsaid(fresh)
    return {"unknown": entry.unknown, **{name: each for name, each in fields if name in unsaid}}


def _unsaid(entry: Entry) -> frozenset[Field]:
    """What no source can say of such an entry; none gives a remote server variables."""
    if entry.url is not None:
        return _UNSAID | LOCAL_FIELDS
    return _UNSAID | REMOTE_FIELDS if entry.command is not None else _UNSAID


def digest_of(entry: Entry, ref: ClientScopeRef) -> EntryDigest:
    """An entry of a file as hashes."""
    whole = spell(replace(entry, enabled=None), ref.shape)
    text = json.dumps(whole, sort_keys=True, default=str)
    return EntryDigest(meaning_of(entry, ref), _hash(text), entry.enabled is not False)


def read_back(entry: Entry, ref: ClientScopeRef) -> Entry:
    """An entry as its program reads it once it is written."""
    return understand(spell(entry, ref.shape), ref.client, ref.shape).entry


def can_say_off(ref: ClientScopeRef) -> bool:
    """Whether a program has a way to say that a server is off, just where its entry counts."""
    location = switch_location(ref)
    of_all = location is None or not any(PROJECT in each for each in location.templates)
    # Off for all projects would switch off the servers of that name that others have.
    return reads_off(ref) and not (is_of_project(ref) and of_all)


def reads_off(ref: ClientScopeRef) -> bool:
    """Whether a server that a program has off is off wherever its entry counts."""
    switch, scope = ref.scope.switch, ref.scope
    if switch.kind is SwitchKind.ENTRY:
        return Field.ENABLED in ref.shape.field_names
    # Off in one project alone is on in every other.
    elsewhere = PROJECT in switch.off and PROJECT not in scope.above and not is_of_project(ref)
    return switch.kind is not SwitchKind.NONE and not elsewhere


def unresolved(source: Entry, ours: ClientScopeRef, copy: Entry, there: ClientScopeRef) -> str:
    """Why a copy would get a reference as a plain text; empty where it would not."""
    dropped = [name for name in OAUTH_TEXTS if name not in there.shape.field_names]
    source = replace(source, **dict.fromkeys(dropped))
    if foreign := next(_foreign(source, ours.client), None):
        return f"only mcpyard resolves {foreign.text}; use the gateway there"
    lost = _variables(source, ours.client) - _variables(copy, there.client)
    if not lost:
        return ""
    names = ", ".join(f"${{{name}}}" for name in sorted(lost))
    return f"{there.client.title} does not expand {names} there; use the gateway there"


def _variables(entry: Entry, client: Client) -> set[str]:
    named = {*(entry.env_vars or ()), *(entry.env_headers or {}).values()}
    named |= {entry.bearer} if entry.bearer else set()
    for part in _parts(entry, client):
        named |= {part.name} if isinstance(part, ClientReference) else set()
    return named


def _foreign(entry: Entry, client: Client) -> Iterator[Foreign]:
    yield from (part for part in _parts(entry, client) if isinstance(part, Foreign))


def _parts(entry: Entry, client: Client) -> Iterator[Part]:
    for name, text in _texts(entry):
        yield from parts(text, client.dialect_of(name))


def _texts(entry: Entry) -> Iterator[tuple[Field, str]]:
    for name in (Field.COMMAND, Field.URL, Field.CWD, *OAUTH_TEXTS):
        if text := getattr(entry, name):
            yield name, text
    yield from ((Field.ARGS, text) for text in entry.args or ())
    yield from ((Field.ENV, text) for text in (entry.env or {}).values())
    yield from ((Field.HEADERS, text) for text in (entry.headers or {}).values())


def _ordered(value: object) -> object:
    return sorted(map(repr, cast("Iterable[object]", value))) if _is_set(value) else value


def _is_set(value: object) -> bool:
    return isinstance(value, frozenset)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
