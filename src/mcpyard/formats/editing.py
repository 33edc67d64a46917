"""Edits of a client's file: one entry changes, every other byte stays.

An entry that is changed keeps the words, the order and the extras it has; only the fields that
are said differently are touched.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from mcpyard.domain.errors import DefinitionError, NameRefused, NameTaken, Problem
from mcpyard.domain.narrowing import is_object
from mcpyard.formats.containers import EntryContainer
from mcpyard.formats.entries import Entry, closed, field_of, needed_of, opened, spell, understand
from mcpyard.formats.facts import Client, EntrySchema, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.naming import name_fault
from mcpyard.formats.transport_change import without_other_side
from mcpyard.formats.warnings import Warned

_REWORDABLE: Final = frozenset({Field.URL, Field.ENV})
"""Fields that mean the same under each of their words."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text after an edit, and what should be told about it."""

    text: str
    warnings: tuple[Warned, ...] = ()


def write(
    ref: ClientScopeRef, text: str, name: str, entry: Entry, *, replace: bool = False
) -> Edited:
    """Add a server, or change it to say what `entry` says.

    An entry that is to `replace` another has nothing from it, so all that it says is kept.

    Raises:
        DocumentBroken: the text cannot be read.
        NameRefused: a new name that the client does not take.
        DefinitionError: an entry that would keep the client from reading all others.
        EditRefused: the edit would not give exactly what was asked.
    """
    servers = EntryContainer.read(ref, text)
    shape, old = servers.shape, servers.entries.get(name)
    if name not in servers.entries:
        _check_name(ref.client, name, servers.entries.keys() | servers.others)
    raw = old if is_object(old) else None
    warnings: tuple[Warned, ...] = ()
    if raw is not None and not replace:
        before = understand(raw, ref.client, shape).entry
        entry, warnings = without_other_side(before, entry, shape)
    new = spell(entry, shape) if raw is None else respell(raw, entry, ref.client, shape)
    _check_loadable(ref.client, shape, raw, new)
    return Edited(servers.put(name, new), warnings)


def remove(ref: ClientScopeRef, text: str, name: str) -> Edited:
    """Take a server out, with the comments of its own."""
    return Edited(EntryContainer.read(ref, text).remove(name))


def rename(ref: ClientScopeRef, text: str, name: str, new_name: str) -> Edited:
    """Give a server another name, at the same place."""
    servers = EntryContainer.read(ref, text)
    if new_name != name:
        _check_name(ref.client, new_name, (servers.entries.keys() | servers.others) - {name})
    return Edited(servers.rename(name, new_name))


def respell(
    raw: Mapping[str, object], entry: Entry, client: Client, shape: EntrySchema
) -> dict[str, object]:
    """An entry as it is written, changed to say what `entry` says."""
    present = opened(raw, shape)
    old = understand(raw, client, shape).entry
    differing = _differing(old, entry, raw, shape)
    fresh = {
        _present_word(word, present, entry, shape): value
        for word, value in opened(spell(entry, shape), shape).items()
        if (field_of(word, shape) or word) in differing
    }
    unchanged = {
        word: fresh.get(word, value)
        for word, value in present.items()
        if word in fresh or (field_of(word, shape) or word) not in differing
    }
    return closed(unchanged | fresh, shape)


def _differing(
    old: Entry, new: Entry, raw: Mapping[str, object], shape: EntrySchema
) -> set[Field | str]:
    """The fields and unknown words that the two do not say alike."""
    before, after = old.set_fields(), new.set_fields()
    differing: set[Field | str] = {name for name in Field if before.get(name) != after.get(name)}
    words = old.unknown.keys() | new.unknown.keys()
    differing |= {word for word in words if old.unknown.get(word) != new.unknown.get(word)}
    kind = shape.field_names.get(Field.TYPE, "")
    if spell(old, shape).get(kind) != spell(new, shape).get(kind):
        differing.add(Field.TYPE)
    differing |= {word for word in needed_of(new, shape) if word not in raw}
    if Field.TYPE in differing and shape.url_ways:
        differing.add(Field.URL)
    together = shape.joined or isinstance(raw.get(shape.field_names[Field.COMMAND]), list)
    if together and differing & {Field.COMMAND, Field.ARGS}:
        differing |= {Field.COMMAND, Field.ARGS}
    return differing


def _present_word(
    word: str, present: Mapping[str, object], entry: Entry, shape: EntrySchema
) -> str:
    """The word that the entry has for the same field already, if it can stay."""
    name = field_of(word, shape)
    inside = (each for each, means in shape.also.items() if means is name and "." in each)
    for other in inside:
        # An entry whose launch stands one level down keeps all of it there.
        if any(each.startswith(f"{other.partition('.')[0]}.") for each in present):
            return other
    if name not in _REWORDABLE:
        return word
    others = (
        each
        for each in present
        if field_of(each, shape) is name and shape.url_ways.get(each, entry.type) is entry.type
    )
    return next(others, word)


def _check_loadable(
    client: Client, shape: EntrySchema, old: Mapping[str, object] | None, new: Mapping[str, object]
) -> None:
    # An entry that is bad already may be a part of one whose other half is in another file.
    if old is not None and understand(old, client, shape).problems:
        return
    reading = understand(new, client, shape)
    if reading.problems and (client.fragile or not reading.alone):
        raise DefinitionError.of(*reading.problems)


def _check_name(client: Client, name: str, taken: Collection[str]) -> None:
    if name in taken:
        raise NameTaken(f'a server "{name}" already exists')
    if fault := name_fault(client, name, taken):
        raise NameRefused.of(Problem("name", fault))
