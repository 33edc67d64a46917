"""What changed since a browser looked: shared by every browser, pushed and asked for alike.

A tag names a moment: the run of the yard, the version of its records, and the round of the figures.
Whatever is newer than a browser's tag is what that browser must be sent, be it by the stream or as
the answer to its regular question.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.web.metrics import Metrics
from mcpyard.yard.views.servers import Picture
from mcpyard.yard.yard import YardCore

if TYPE_CHECKING:
    from mcpyard.domain.errors import Problem

_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class PageChanges:
    """What a browser has not seen yet.

    Attributes:
        tag: The moment it sees with this.
        everything: Whether servers came, went or moved, or a document's problems did, so that
            the whole list is to be sent.
        servers: The servers whose records changed.
        metrics: The servers whose figures alone changed.
    """

    tag: str
    everything: bool = False
    servers: frozenset[UUID] = frozenset()
    metrics: frozenset[UUID] = frozenset()

    def __bool__(self) -> bool:
        return self.everything or bool(self.servers or self.metrics)


class ChangeTracker:
    """Knows when each server of a yard last changed."""

    def __init__(self, yard: YardCore) -> None:
        self.yard = yard
        self.metrics = Metrics(yard)
        self._pictures: dict[UUID, Picture] = {}
        self._touched: dict[UUID, int] = {}
        self._order: list[tuple[UUID, str]] = []
        self._problems: tuple[Problem, ...] = ()
        self._moved = 0
        self._seen: int = -1
        self._restarts: dict[UUID, int] = {}

    def tag(self) -> str:
        """The name of this moment."""
        self._refresh()
        # The version that was looked at: asked for anew, it may be one ahead of what was seen.
        return f"{self.yard.instance}-{self._seen}-{self.metrics.round}"

    def pictures(self) -> list[Picture]:
        """Every server as it is now, by name."""
        self._refresh()
        return [*self._pictures.values()]

    def picture(self, server: UUID) -> Picture | None:
        """One server as it is now."""
        self._refresh()
        return self._pictures.get(server)

    def restarting(self, picture: Picture) -> None:
        """Remember that somebody asked for a restart."""
        self._restarts[picture.server.id] = picture.observed.state.epoch

    def restarted(self, server: UUID) -> int | None:
        """The epoch in which somebody last asked for a restart."""
        return self._restarts.get(server)

    def since(self, tag: str) -> PageChanges:
        """What is newer than a tag."""
        now, moment = self.tag(), self._moment(tag)
        if moment is None or moment[0] < self._moved:
            return PageChanges(now, everything=True)
        version, round_ = moment
        servers = {each for each, at in self._touched.items() if at > version}
        metrics = self.metrics.since(round_) - servers
        return PageChanges(now, servers=frozenset(servers), metrics=frozenset(metrics))

    def _moment(self, tag: str) -> tuple[int, int] | None:
        """The version and the round that a tag of this run names."""
        parts = tag.split("-")
        if len(parts) != _PARTS or parts[0] != self.yard.instance:
            return None
        version, round_ = whole_number(parts[1]), whole_number(parts[2])
        return None if version is None or round_ is None else (version, round_)

    def _refresh(self) -> None:
        version = self.yard.version
        if version == self._seen:
            return
        fresh = {each.server.id: each for each in self.yard.pictures()}
        for server, picture in fresh.items():
            before = self._pictures.get(server)
            # Servers are made anew with every change of any document, but mostly equal.
            if before is None or before != picture:
                self._touched[server] = version
        for gone in self._touched.keys() - fresh.keys():
            del self._touched[gone]
            self._restarts.pop(gone, None)
        order = [(each.server.id, each.server.name) for each in fresh.values()]
        problems = self.yard.desired.problems
        if (order, problems) != (self._order, self._problems):
            self._order, self._problems, self._moved = order, problems, version
        self._pictures, self._seen = fresh, version
