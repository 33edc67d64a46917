"""What changed since a browser looked: shared by every browser, pushed and asked for alike.

A tag names a moment: the run of the yard, the version of its records, and the round of the figures.
Whatever is newer than a browser's tag is what that browser must be sent, be it by the stream or as
the answer to its regular question.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final
from uuid import UUID

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.web.metrics import Metrics
from mcpyard.yard.views.servers import Picture
from mcpyard.yard.yard import YardCore

if TYPE_CHECKING:
    from mcpyard.domain.errors import Problem

_PARTS: Final = 3

_NONE: Final[frozenset[UUID]] = frozenset()

_MOST_GONE: Final = 1000
"""Removed servers that are remembered; a browser that missed more gets the whole list."""


@dataclass(frozen=True, slots=True)
class PageChanges:
    """What a browser has not seen yet.

    Attributes:
        tag: The moment it sees with this.
        everything: Whether the whole list is to be sent, because the moment is unknown, or
            the list was or is empty.
        servers: The servers whose records changed.
        metrics: The servers whose figures alone changed.
        came: The servers that are new.
        gone: The servers that were removed.
        problems: Whether the problems of the documents changed.
    """

    tag: str
    everything: bool = False
    servers: frozenset[UUID] = frozenset()
    metrics: frozenset[UUID] = frozenset()
    came: frozenset[UUID] = frozenset()
    gone: frozenset[UUID] = frozenset()
    problems: bool = False

    def __bool__(self) -> bool:
        listed = self.everything or self.problems or bool(self.came or self.gone)
        return listed or bool(self.servers or self.metrics)

    def parts(self, most: int) -> Iterator["PageChanges"]:
        """The same, at most so many servers at a time: a browser is never busy with many."""
        if self.everything or len(self.came) + len(self.servers) + len(self.metrics) <= most:
            yield self
            return
        yield replace(self, came=_NONE, servers=_NONE, metrics=_NONE)
        for came in _split(self.came, most):
            yield PageChanges(self.tag, came=came)
        for servers in _split(self.servers, most):
            yield PageChanges(self.tag, servers=servers)
        for metrics in _split(self.metrics, most):
            yield PageChanges(self.tag, metrics=metrics)


def _split(servers: frozenset[UUID], most: int) -> Iterator[frozenset[UUID]]:
    ordered = [*servers]
    for start in range(0, len(ordered), most):
        yield frozenset(ordered[start : start + most])


class ChangeTracker:
    """Knows when each server of a yard last changed."""

    def __init__(self, yard: YardCore) -> None:
        self.yard = yard
        self.metrics = Metrics(yard)
        self._pictures: dict[UUID, Picture] = {}
        self._touched: dict[UUID, int] = {}
        self._where: dict[UUID, object] = {}
        self._came: dict[UUID, int] = {}
        self._gone: dict[UUID, int] = {}
        self._problems: tuple[Problem, ...] = ()
        self._problems_at = 0
        self._whole_before = 0
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
        if moment is None or moment[0] < self._whole_before:
            return PageChanges(now, everything=True)
        version, round_ = moment
        servers, came, gone = (
            frozenset(each for each, at in changes.items() if at > version)
            for changes in (self._touched, self._came, self._gone)
        )
        return PageChanges(
            now,
            servers=servers - came,
            metrics=frozenset(self.metrics.since(round_)) & self._pictures.keys() - servers,
            came=came,
            gone=gone,
            problems=self._problems_at > version,
        )

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
        if not fresh or not self._pictures:
            # What stands in the place of an empty list is no list.
            self._whole_before = version
        for server, picture in fresh.items():
            before, where = self._pictures.get(server), self.yard.cluster.where(server)
            if before is None:
                self._came[server] = version
                self._gone.pop(server, None)
            # Servers are made anew with every change of any document, but mostly equal.
            if before is None or before != picture or self._where.get(server) != where:
                self._touched[server] = version
            self._where[server] = where
        for gone in self._touched.keys() - fresh.keys():
            self._forget(gone, version)
        if self.yard.desired.problems != self._problems:
            self._problems, self._problems_at = self.yard.desired.problems, version
        self._pictures, self._seen = fresh, version

    def _forget(self, server: UUID, version: int) -> None:
        del self._touched[server]
        self._came.pop(server, None)
        self._restarts.pop(server, None)
        self._where.pop(server, None)
        self._gone[server] = version
        if len(self._gone) > _MOST_GONE:
            self._whole_before = max(self._whole_before, self._gone.pop(next(iter(self._gone))))
