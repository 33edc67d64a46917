"""The same server, defined differently: what several files say of one name, compared.

Definitions are compared in neutral words, with references taken apart so that `${TOKEN}` in one
dialect equals `{env:TOKEN}` in another. A field that a client has no word for is no difference.
Literal values of variables and headers are compared and never shown.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mcpyard.domain.definition.secret_text import shown_args, shown_text, shown_url
from mcpyard.formats.copying.draft import ALL_TOOLS
from mcpyard.formats.copying.reference_steps import AUTHORIZATION, BEARER_PREFIX
from mcpyard.formats.copying.references import ClientReference, Part, meaning
from mcpyard.formats.copying.shell_quoting import unquoted
from mcpyard.formats.effective import ServerStatus
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import SECOND, Client, EntrySchema, EntryTransport
from mcpyard.formats.fields import OAUTH_LISTS, OAUTH_TEXTS, TIMES, Field
from mcpyard.formats.locations import ClientScopeRef

ABSENT: Final = "-"
"""Shown for what a variant does not say."""

_ORDER: Final = tuple(Field)


@dataclass(frozen=True, slots=True)
class Variant:
    """A definition, all servers that have it, and what it says where the variants differ."""

    statuses: tuple[ServerStatus, ...]
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Drift:
    """A name under which there is more than one definition; the most usual comes first."""

    name: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class _FieldValue:
    """A value to compare, and how it may be shown."""

    value: object
    text: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Neutral:
    """A definition taken apart, as far as two clients can differ in it."""

    status: ServerStatus
    values: Mapping[str, _FieldValue]

    def differences(self, other: "_Neutral") -> set[str]:
        if self.status.listed.place == other.status.listed.place:
            # The programs read one file, each in its own way.
            return set()
        return {
            leaf
            for leaf in self.values.keys() | other.values.keys()
            if self.values.get(leaf) != other.values.get(leaf)
            and _can_say(self.status.ref.shape, leaf)
            and _can_say(other.status.ref.shape, leaf)
        }


def drift(statuses: Iterable[ServerStatus]) -> tuple[Drift, ...]:
    """Every name that is not defined alike everywhere, of the servers of all clients."""
    by_name: dict[str, list[_Neutral]] = {}
    for status in statuses:
        if entry := _whole(status):
            by_name.setdefault(status.listed.name, []).append(_neutral(status, entry))
    grouped = ((name, _groups(each)) for name, each in by_name.items())
    return tuple(_drift(name, groups) for name, groups in grouped if len(groups) > 1)


def leaves_of(entry: Entry, ref: ClientScopeRef) -> dict[str, tuple[object, str]]:
    """Each thing that an entry says in a scope: its value to compare, and how it may be shown."""
    leaves: dict[str, tuple[object, str]] = {}
    for leaf, value, text in _leaves(entry, ref.client):
        if _can_say(ref.shape, leaf):
            leaves.setdefault(leaf, (value, text))
    return leaves


def _whole(status: ServerStatus) -> Entry | None:
    """An entry that says by itself what the server is."""
    entry = status.listed.entry
    if entry is None or (entry.command is None and entry.url is None):
        return None
    return None if status.listed.problems else entry


def _groups(entries: list[_Neutral]) -> list[list[_Neutral]]:
    groups: list[list[_Neutral]] = []
    for each in entries:
        for group in groups:
            if not any(each.differences(other) for other in group):
                group.append(each)
                break
        else:
            groups.append([each])
    return sorted(groups, key=len, reverse=True)


def _drift(name: str, groups: list[list[_Neutral]]) -> Drift:
    every = [each for group in groups for each in group]
    leaves: set[str] = set()
    for each in every:
        leaves = leaves.union(*(each.differences(other) for other in every))
    ordered = sorted(leaves, key=lambda leaf: (_ORDER.index(_field(leaf)), leaf))
    return Drift(name, tuple(_variant(group, ordered) for group in groups))


def _variant(group: list[_Neutral], leaves: list[str]) -> Variant:
    merged: dict[str, _FieldValue] = {}
    for each in group:
        merged |= each.values
    values = {leaf: merged[leaf].text if leaf in merged else ABSENT for leaf in leaves}
    return Variant(tuple(each.status for each in group), values)


def _field(leaf: str) -> Field:
    return Field(leaf.partition(".")[0])


def _can_say(shape: EntrySchema, leaf: str) -> bool:
    name = _field(leaf)
    if name is not Field.TYPE:
        return name in shape.field_names
    # One word for both leaves open which of them is meant.
    apart = shape.types.get(EntryTransport.HTTP) != shape.types.get(EntryTransport.SSE)
    return apart or EntryTransport.SSE in shape.url_ways.values()


def _neutral(status: ServerStatus, entry: Entry) -> _Neutral:
    values: dict[str, _FieldValue] = {}
    for leaf, value, text in _leaves(entry, status.ref.client):
        values.setdefault(leaf, _FieldValue(value, text))
    return _Neutral(status, values)


def _leaves(entry: Entry, client: Client) -> Iterator[tuple[str, object, str]]:
    """Each thing that the entry says: what it is called, its value, and how it may be shown."""
    for name, text in _texts(entry):
        passed = unquoted(text, client) if name is Field.COMMAND else text
        yield name.value, meaning(passed, client.dialect_of(name)), shown_text(shown_url(text))
    for leaf, secret in _secrets(entry, client):
        yield leaf, secret, _without_literals(secret)
    if entry.args:
        dialect = client.dialect_of(Field.ARGS)
        meanings = tuple(meaning(unquoted(text, client), dialect) for text in entry.args)
        yield "args", meanings, " ".join(shown_args(entry.args))
    yield from _limits(entry)
    way = EntryTransport.HTTP if entry.way is EntryTransport.REMOTE else entry.way
    yield "type", way, str(way)


def _limits(entry: Entry) -> Iterator[tuple[str, object, str]]:
    for name in TIMES:
        if time := getattr(entry, name):
            # Some clients have whole seconds only, and a copy rounds up.
            seconds = math.ceil(time / SECOND)
            yield name.value, seconds, f"{seconds} s"
    for name in (Field.ONLY_TOOLS, Field.EXCEPT_TOOLS, *OAUTH_LISTS):
        if (names := getattr(entry, name)) and names != ALL_TOOLS:
            yield name.value, frozenset(names), ", ".join(sorted(names))
    if port := entry.oauth_callback_port:
        yield Field.OAUTH_CALLBACK_PORT.value, port, str(port)


def _texts(entry: Entry) -> Iterator[tuple[Field, str]]:
    for name in (Field.COMMAND, Field.URL, Field.CWD, *OAUTH_TEXTS):
        if name is not Field.OAUTH_CLIENT_SECRET and (text := getattr(entry, name)):
            yield name, text


def _secrets(entry: Entry, client: Client) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Variables and headers, those that are references by another field among them."""
    for key, text in (entry.env or {}).items():
        yield f"env.{key}", meaning(text, client.dialect_of(Field.ENV))
    for key in entry.env_vars or ():
        yield f"env.{key}", (ClientReference(key),)
    for key, text in (entry.headers or {}).items():
        yield f"headers.{key.lower()}", meaning(text, client.dialect_of(Field.HEADERS))
    for key, variable in (entry.env_headers or {}).items():
        yield f"headers.{key.lower()}", (ClientReference(variable),)
    if secret := entry.oauth_client_secret:
        dialect = client.dialect_of(Field.OAUTH_CLIENT_SECRET)
        yield Field.OAUTH_CLIENT_SECRET.value, meaning(secret, dialect)
    if entry.bearer:
        yield f"headers.{AUTHORIZATION.lower()}", (BEARER_PREFIX, ClientReference(entry.bearer))


def _without_literals(parts: tuple[Part, ...]) -> str:
    references = [_without_default(part) for part in parts if isinstance(part, ClientReference)]
    hidden = any(not isinstance(part, ClientReference) and part != BEARER_PREFIX for part in parts)
    return " ".join([*references, *(["a literal text"] if hidden or not parts else [])])


def _without_default(reference: ClientReference) -> str:
    # That there is one may be the very difference; what it says may be a secret.
    return f"${{{reference.name}}}" if reference.default is None else f"${{{reference.name}:-...}}"
