"""The entries that a sync wrote, for as long as the program runs."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry
from mcpyard.store.volatile_edits import KEPT


class _Claim(Struct, frozen=True):
    written: EntryDigest | None
    unit: int | None
    settled: bool


class VolatileOwnedEntries:
    """Entries in memory, with all claims that can be undone (see the `OwnedEntries` port)."""

    def __init__(self) -> None:
        self._claims: dict[EntryKey, list[_Claim]] = {}

    async def all(self) -> Mapping[EntryKey, OwnedEntry]:
        """Every one."""
        owned = ((key, _owned(claims)) for key, claims in self._claims.items())
        return {key: each for key, each in owned if each}

    async def claim(
        self, entries: Mapping[EntryKey, EntryDigest | None], unit: int | None = None
    ) -> None:
        """Say what is about to be written by a unit of edits; None gives one up."""
        for key, written in entries.items():
            earlier = [] if unit is None else self._claims.get(key, [])
            claim = _Claim(written, unit, settled=unit is None)
            self._claims[key] = [*earlier[-KEPT:], claim]

    async def settle(self, unit: int) -> None:
        """Say that a unit was written."""
        for key, claims in self._claims.items():
            self._claims[key] = [
                replace(each, settled=True) if each.unit == unit else each for each in claims
            ]

    async def take_back(self, unit: int) -> None:
        """Let what a unit claimed be owned as before it."""
        for key, claims in [*self._claims.items()]:
            numbers = [number for number, each in enumerate(claims) if each.unit == unit]
            for number in numbers:
                alike = claims[-1].written == claims[number].written
                # What was claimed since and says the same is taken out of its file as well.
                later = [] if alike else claims[number + 1 :]
                self._claims[key] = [*claims[:number], *later]
            if not self._claims[key]:
                del self._claims[key]


def _owned(claims: list[_Claim]) -> OwnedEntry | None:
    last, before = claims[-1], claims[-2].written if len(claims) > 1 else None
    written = last.written or (None if last.settled else before)
    return OwnedEntry(written, before, last.settled) if written else None
