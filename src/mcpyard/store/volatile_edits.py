"""Edits, and what copies left out, that last as long as their program: a private yard's."""

from collections.abc import Sequence
from itertools import count
from typing import Final

from msgspec.structs import replace

from mcpyard.domain.stored import DroppedField, EditEntry, FileEdit

KEPT: Final = 100
"""Units of edits that can be undone; older ones are forgotten."""


class VolatileEdits:
    """Edits in memory (see the `Edits` port)."""

    def __init__(self) -> None:
        self._all: dict[int, tuple[EditEntry, FileEdit]] = {}
        self._numbers = count(1)

    async def add(self, edit: FileEdit, unit: int | None = None) -> EditEntry:
        """Keep an edit; the oldest ones beyond the limit are forgotten."""
        number = next(self._numbers)
        facts = edit.at, edit.who, edit.kind, edit.path
        entry = EditEntry(number, *facts, unit=unit or number)
        self._all[number] = entry, edit
        units = sorted({each.unit for each, _ in self._all.values()})[-KEPT:]
        self._all = {key: each for key, each in self._all.items() if each[0].unit in units}
        return entry

    async def recent(self) -> Sequence[EditEntry]:
        """The last edits, newest first."""
        return [entry for entry, _ in reversed(self._all.values())]

    async def together(self, unit: int) -> Sequence[tuple[EditEntry, FileEdit]]:
        """The edits of a unit with their contents, in the order they were made."""
        return [each for each in self._all.values() if each[0].unit == unit]

    async def mark_undone(self, number: int) -> EditEntry | None:
        """Say that an edit was undone."""
        edit = self._all.get(number)
        if edit is None:
            return None
        entry = replace(edit[0], undone=True)
        self._all[number] = entry, edit[1]
        return entry

    async def drop(self, unit: int) -> None:
        """Forget a unit that was not carried out after all."""
        self._all = {key: each for key, each in self._all.items() if each[0].unit != unit}


class VolatileDroppedFields:
    """What copies left out, in memory (see the `DroppedFields` port)."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, str], DroppedField] = {}

    async def get(self, place: str, name: str) -> DroppedField | None:
        """What the copy of that name left out."""
        return self._all.get((place, name))

    async def set(self, place: str, name: str, left: DroppedField | None) -> None:
        """Keep what a copy left out; None forgets it."""
        if left is None:
            self._all.pop((place, name), None)
        else:
            self._all[place, name] = left
