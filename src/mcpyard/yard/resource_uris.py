"""Which server an address belongs to: the first that listed it, also after a restart."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from typing import Final
from uuid import UUID

from mcpyard.catalog.resource_uris import carries_owner, ui_addresses
from mcpyard.domain.observed import Capabilities, Observed
from mcpyard.domain.ports import Memory

MOST_CLAIMS: Final = 10_000
"""Addresses that one server may hold: one that lists others all the time must not fill the disk."""

_ADDRESSES: Final = UUID("0b1c0a3e-52e5-5ad1-9f0b-6d63706d6370")
"""Stands for a server among the exposed names: its tools are addresses, its names their owners."""


class AddressBook:
    """The owners of addresses, kept with the exposed names of tools."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._seen: dict[UUID, tuple[str, Capabilities]] = {}
        self._counts: Counter[str] | None = None

    def holder(self, address: str, defined: Container[UUID]) -> UUID | None:
        """The server that an address belongs to; None when it belongs to none that is defined."""
        owner = _id(self._memory.exposed_names().get((_ADDRESSES, address)))
        return None if owner is None or owner not in defined else owner

    def claim(self, observed: Observed, defined: Container[UUID]) -> None:
        """Give a server the addresses that it lists and nobody else has."""
        listed = (observed.tools.digest, observed.offer)
        before = self._seen.get(observed.id)
        if before and before[0] == listed[0] and before[1] is listed[1]:
            return
        self._seen[observed.id] = listed
        free = {
            address
            for address in _listed(observed)
            if not carries_owner(address) and self.holder(address, defined) is None
        }
        if free:
            self._keep(str(observed.id), sorted(free))

    def forget(self, server: UUID) -> None:
        """Look at a server's lists anew when it comes back."""
        self._seen.pop(server, None)

    def _keep(self, server: str, addresses: list[str]) -> None:
        names = self._memory.exposed_names()
        if self._counts is None:
            self._counts = Counter(name for (key, _), name in names.items() if key == _ADDRESSES)
        new = addresses[: max(0, MOST_CLAIMS - self._counts[server])]
        claims: Mapping[tuple[UUID, str], str] = {(_ADDRESSES, each): server for each in new}
        self._counts.subtract(names[key] for key in claims if key in names)
        self._counts[server] += len(new)
        self._memory.keep_names(claims)


def _id(text: str | None) -> UUID | None:
    try:
        return UUID(text) if text else None
    except ValueError:
        return None


def _listed(observed: Observed) -> Iterator[str]:
    for tool in observed.tools.definitions:
        yield from ui_addresses(tool.raw)
    offer = observed.offer
    for items, key in ((offer.resources, "uri"), (offer.templates, "uriTemplate")):
        for item in items.items:
            address = item.get(key)
            if isinstance(address, str) and address:
                yield address
