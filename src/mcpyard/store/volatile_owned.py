"""The entries that a sync wrote, for as long as the program runs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry


@dataclass(frozen=True, slots=True)
class _Row:
    written: EntryDigest | None
    before: EntryDigest | None
    unit: int | None
    settled: bool


class VolatileOwnedEntries:
    """Entries in memory (see the `OwnedEntries` port)."""

    def __init__(self) -> None:
        self._rows: dict[EntryKey, _Row] = {}

    async def all(self) -> Mapping[EntryKey, OwnedEntry]:
        """Every one."""
        return {
            key: OwnedEntry(owned, row.before, row.settled)
            for key, row in self._rows.items()
            if (owned := row.written or (None if row.settled else row.before))
        }

    async def claim(
        self, entries: Mapping[EntryKey, EntryDigest | None], unit: int | None = None
    ) -> None:
        """Say what is about to be written by a unit of edits; None gives one up."""
        for key, written in entries.items():
            earlier = self._rows.get(key)
            before = earlier.written if earlier else None
            self._rows[key] = _Row(written, before, unit, settled=unit is None)

    async def settle(self, unit: int) -> None:
        """Say that a unit was written."""
        for key, row in self._of(unit).items():
            self._rows[key] = replace(row, settled=True)

    async def take_back(self, unit: int) -> None:
        """Let what a unit claimed and nothing claimed since be owned as before it."""
        for key, row in self._of(unit).items():
            if row.before is None:
                del self._rows[key]
            else:
                self._rows[key] = _Row(row.before, None, None, settled=True)

    def _of(self, unit: int) -> dict[EntryKey, _Row]:
        return {key: row for key, row in self._rows.items() if row.unit == unit}
