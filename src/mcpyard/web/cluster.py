"""The cluster on the page: its nodes, what happened, and what can be done, with previews."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.cluster import NodeState
from mcpyard.domain.errors import NodeUnknown
from mcpyard.web import requests
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.views.cluster import ClusterEventView, ClusterNodeView, MovePlanView

LINES: Final = 30
"""Lines of what happened; the newest few are always shown, the others can be unfolded."""


@dataclass(slots=True)
class EventLine:
    """What happened at once to one node, or to several servers alike.

    Attributes:
        event: The newest of the events.
        names: The servers that it is about.
    """

    event: ClusterEventView
    names: list[str] = field(default_factory=list[str])

    def takes(self, event: ClusterEventView) -> bool:
        """Whether another event says the same, of another server."""
        return event.server is not None and _alike(event) == _alike(self.event)

    @property
    def key(self) -> str:
        """By which the catalogues have the sentence."""
        if self.event.server is None:
            return f"nodes.event.{self.event.kind}"
        if self.event.node is None:
            return "nodes.event.homeless"
        why = self.event.why or self.event.kind
        return f"nodes.event.{self.event.kind}.{why}"


class ClusterPanel:
    """Shows the cluster that one yard is a node of, and changes it."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._cluster = presenter.yard.cluster

    async def nodes(self, request: Request) -> Response:
        """Every node, whether the database is there, and what happened last."""
        pinned: dict[str, list[str]] = defaultdict(list)
        for each in await self._cluster.pinned_elsewhere():
            pinned[each.node].append(each.name)
        data: TemplateData = {
            "cluster": self._cluster.view(),
            "pinned": {node: sorted(names) for node, names in pinned.items()},
            "lines": self._lines(),
        }
        return answer(request, "parts/nodes.html", data)

    async def events(self, request: Request) -> Response:
        """What happened last; nothing without a cluster."""
        return answer(request, "parts/cluster_events.html", {"lines": self._lines()})

    async def drain_dialog(self, request: Request) -> Response:
        """What a drain would do to each server of a node."""
        node = requests.part(request, "node")
        data = {"plan": self._cluster.plan_drain(node), "node": node}
        return answer(request, "dialogs/drain.html", data)

    async def drain(self, request: Request) -> Response:
        """Have other nodes run the servers of a node."""
        node = requests.part(request, "node")
        await self._cluster.drain(node, by=requests.caller(request))
        return _said(request, "nodes.drain_begun", node)

    async def forget_dialog(self, request: Request) -> Response:
        """Ask before a node is removed."""
        return answer(request, "dialogs/forget.html", {"node": requests.part(request, "node")})

    async def forget(self, request: Request) -> Response:
        """Take a node out of the cluster."""
        node = requests.part(request, "node")
        await self._cluster.forget(node, by=requests.caller(request))
        return _said(request, "nodes.forgotten", node)

    async def move_dialog(self, request: Request) -> Response:
        """The nodes that a server can be moved to, and what the move would do."""
        record = self._presenter.record(requests.part(request, "ref"))
        targets = [each for each in self._targets() if each.name != record.node]
        if not targets:
            raise NodeUnknown("no other node is up")
        plan = self._cluster.plan_move(record.id, targets[0].name)
        data: TemplateData = {"record": record, "targets": targets, "plan": plan}
        return answer(request, "dialogs/move.html", data)

    async def move_preview(self, request: Request) -> Response:
        """What a move to the chosen node would do."""
        plan = await self._plan(request)
        return answer(request, "parts/move_plan.html", {"plan": plan})

    async def move(self, request: Request) -> Response:
        """Have another node run a server."""
        ref, form = requests.part(request, "ref"), await requests.form(request)
        await self._cluster.move(ref, form["node"], by=requests.caller(request))
        name = self._presenter.yard.server(ref).name
        return _said(request, "nodes.move_begun", name)

    async def _plan(self, request: Request) -> MovePlanView:
        form = await requests.form(request)
        return self._cluster.plan_move(requests.part(request, "ref"), form["node"])

    def _targets(self) -> list[ClusterNodeView]:
        """The nodes that take servers, the least filled first."""
        nodes = [each for each in self._cluster.view().nodes if each.state is NodeState.UP]
        return sorted(nodes, key=lambda each: each.servers / each.capacity)

    def _lines(self) -> list[EventLine]:
        return group_events(self._cluster.events())[:LINES] if self._cluster.exists else []


def group_events(events: Iterable[ClusterEventView]) -> list[EventLine]:
    """Events as lines: neighbours that say the same of several servers are one."""
    lines: list[EventLine] = []
    for event in events:
        if not (lines and lines[-1].takes(event)):
            lines.append(EventLine(event))
        if event.name is not None:
            lines[-1].names.append(event.name)
    return lines


def _said(request: Request, key: str, name: str) -> Response:
    """A notice that something was begun or is done."""
    return answer(request, "parts/said.html", {"tone": "good", "key": key, "name": name})


def _alike(event: ClusterEventView) -> tuple[object, ...]:
    return event.kind, event.node, event.source, event.why, event.by
