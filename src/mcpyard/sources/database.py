"""The user's own servers: definitions that have no file, kept in the store."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from mcpyard.domain.continuation import is_continued
from mcpyard.domain.definition.merge import plain
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import (
    DefinitionError,
    DocumentMoved,
    NameTaken,
    Problem,
    ServerUnknown,
)
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.repositories import Definitions
from mcpyard.domain.source import WholeChange
from mcpyard.domain.stored import StoredDefinition

_USER: Final = Owner(Scope.USER)

_Seen = tuple[Sequence[StoredDefinition], Document]
"""Definitions as they are stored, and what they say."""

_NOTHING: Final[_Seen] = (), Document(_USER)


class DatabaseSource:
    """The definitions of one repository (see `WholeSource`)."""

    def __init__(self, definitions: Definitions) -> None:
        self._stored = definitions
        self._seen = _NOTHING
        self._wake: Callable[[], None] = lambda: None

    @property
    def owner(self) -> Owner:
        """The user."""
        return _USER

    async def open(self, wake: Callable[[], None]) -> None:
        """Begin to tell of changes."""
        self._wake = wake

    def document(self) -> Document:
        """What is stored; a definition that stays as it was is not read anew."""
        stored, before = self._stored.all(), self._seen
        if stored != before[0]:
            self._seen = stored, read_stored(stored, before)
        return self._seen[1]

    def changed_elsewhere(self) -> None:
        """Another node changed what is stored, or what belongs to it."""
        self._wake()

    async def close(self) -> None:
        """Tell of no more changes."""
        self._wake = lambda: None

    async def add(self, configs: Mapping[str, Config]) -> Mapping[str, NameTaken]:
        """Add the definitions whose names are free, in one write."""
        added = await self._stored.add_all({name: plain(each) for name, each in configs.items()})
        if added:
            self._wake()
        taken = configs.keys() - {each.name for each in added}
        return {name: NameTaken(f'the name "{name}" is in use') for name in taken}

    async def put(self, name: str, config: Config, instead_of: Config) -> None:
        """Change a definition."""
        stored = self._find(name)
        _expect(stored, instead_of)
        await self._stored.replace(stored.id, plain(config), expected=stored.digest)
        self._wake()

    async def change(self, name: str, change: WholeChange) -> None:
        """Change everything about a definition that is to change (see `WholeSource`)."""
        stored = self._find(name)
        definition = stored.definition
        if change.config is not None:
            _expect(stored, change.instead_of)
            definition = plain(change.config)
        await self._stored.replace(
            stored.id,
            definition,
            expected=stored.digest,
            name=change.name,
            policy=change.policy,
        )
        self._wake()

    async def remove(self, *names: str) -> None:
        """Take definitions out."""
        ids = {each.name: each.id for each in self._stored.all()}
        if missing := next((name for name in names if name not in ids), None):
            raise _unknown(missing)
        # Those that wait together are one write.
        await asyncio.gather(*(self._stored.remove(ids[name]) for name in names))
        self._wake()

    async def rename(self, name: str, new_name: str) -> None:
        """Give a definition another name."""
        await self._stored.rename(self._find(name).id, new_name)
        self._wake()

    def _find(self, name: str) -> StoredDefinition:
        for stored in self._stored.all():
            if stored.name == name:
                return stored
        raise _unknown(name)


def _unknown(name: str) -> ServerUnknown:
    return ServerUnknown(f'there is no server "{name}" of yours')


def read_stored(stored: Sequence[StoredDefinition], before: _Seen | None = None) -> Document:
    """What stored definitions say; one that cannot be used costs only itself.

    A definition that is the same as before is not read anew, and none of those in front of what
    was added is even looked at.
    """
    read, document = before or _NOTHING
    is_added_to = is_continued(read, stored)
    earlier = {} if is_added_to else _read_before(read, document)
    front = document if is_added_to else _NOTHING[1]
    definitions, problems, skipped = [*front.definitions], [*front.problems], {*front.skipped}
    for each in stored[len(read) if is_added_to else 0 :]:
        same, definition = earlier.get(each.name, (None, None))
        try:
            if definition is None or same is not each:
                definition = Definition(each.name, _config(each))
            definitions.append(definition)
        except DefinitionError as error:
            skipped.add(each.name)
            problems += [
                Problem(f"{each.name}.{wrong.field}", wrong.message) for wrong in error.problems
            ]
    return Document(_USER, tuple(definitions), tuple(problems), skipped=frozenset(skipped))


def _read_before(
    stored: Sequence[StoredDefinition], document: Document
) -> dict[str, tuple[StoredDefinition, Definition]]:
    read = {each.name: each for each in document.definitions}
    return {each.name: (each, read[each.name]) for each in stored if each.name in read}


def _expect(stored: StoredDefinition, expected: Config) -> None:
    if _config(stored) != expected:
        raise DocumentMoved(f'"{stored.name}" was changed by another program in the meantime')


def _config(stored: StoredDefinition) -> Config:
    return read_definition(stored.definition).config
