"""Entries as hashes, and what a program cannot be told."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from mcpyard.domain.sync.plan import EntryDigest
from mcpyard.formats.copying.references import ClientReference, Foreign, parts
from mcpyard.formats.drift import leaves_of
from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.facts import PROJECT, Field, ReferenceSyntax, SwitchKind
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.yard.sync.source_file import is_of_project


def meaning_of(entry: Entry, ref: ClientScopeRef) -> str:
    """The hash of what an entry means to its program, however it is spelled."""
    leaves = {leaf: _ordered(value) for leaf, (value, _) in leaves_of(entry, ref).items()}
    return _hash(repr(sorted(leaves.items())))


def digest_of(entry: Entry, ref: ClientScopeRef) -> EntryDigest:
    """An entry of a file as hashes."""
    whole = spell(replace(entry, enabled=None), ref.shape)
    text = json.dumps(whole, sort_keys=True, default=str)
    return EntryDigest(meaning_of(entry, ref), _hash(text), entry.enabled is not False)


def read_back(entry: Entry, ref: ClientScopeRef) -> Entry:
    """An entry as its program reads it once it is written."""
    return understand(spell(entry, ref.shape), ref.client, ref.shape).entry


def can_say_off(ref: ClientScopeRef) -> bool:
    """Whether a program has a way to say that a server is off, wherever its entry counts."""
    switch, scope = ref.scope.switch, ref.scope
    if switch.kind is SwitchKind.ENTRY:
        return Field.ENABLED in ref.shape.field_names
    # Off in one project alone is on in every other.
    elsewhere = PROJECT in switch.off and PROJECT not in scope.above and not is_of_project(ref)
    return switch.kind is not SwitchKind.NONE and not elsewhere


def unresolved(source: Entry, ours: ClientScopeRef, copy: Entry, there: ClientScopeRef) -> str:
    """Why a copy would get a reference as a plain text; empty where it would not."""
    if foreign := next(_foreign(source, ours.client.dialect), None):
        return f"only mcpyard resolves {foreign.text}; use the gateway there"
    lost = _variables(source, ours.client.dialect) - _variables(copy, there.client.dialect)
    if not lost:
        return ""
    names = ", ".join(f"${{{name}}}" for name in sorted(lost))
    return f"{there.client.title} does not expand {names} there; use the gateway there"


def _variables(entry: Entry, dialect: ReferenceSyntax) -> set[str]:
    named = {*(entry.env_vars or ()), *(entry.env_headers or {}).values()}
    named |= {entry.bearer} if entry.bearer else set()
    for text in _texts(entry):
        named |= {it.name for it in parts(text, dialect) if isinstance(it, ClientReference)}
    return named


def _foreign(entry: Entry, dialect: ReferenceSyntax) -> Iterator[Foreign]:
    for text in _texts(entry):
        yield from (it for it in parts(text, dialect) if isinstance(it, Foreign))


def _texts(entry: Entry) -> Iterator[str]:
    yield from (text for text in (entry.command, entry.url, entry.cwd) if text)
    yield from entry.args or ()
    yield from (entry.env or {}).values()
    yield from (entry.headers or {}).values()


def _ordered(value: object) -> object:
    return sorted(map(repr, cast("Iterable[object]", value))) if _is_set(value) else value


def _is_set(value: object) -> bool:
    return isinstance(value, frozenset)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
