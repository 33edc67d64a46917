"""The servers of all nodes as one: the `Servers` port over the local ones and the links to others.

A call of a server that this node runs costs one look into a table and one at the clock more than
without a cluster.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Raw

from mcpyard.cluster.admission import Verdict
from mcpyard.cluster.node_view import NodeView
from mcpyard.domain import plan
from mcpyard.domain.cluster import Placement
from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.errors import ClusterRefused, YardError
from mcpyard.domain.observed import Figures, Observed
from mcpyard.domain.plan import Action
from mcpyard.domain.ports import (
    CallTerms,
    LogLine,
    NotificationInterest,
    NotificationListener,
)
from mcpyard.domain.started_calls import CallWaiter, StartedCall
from mcpyard.mesh import messages
from mcpyard.mesh.certificates import NodeCertificates
from mcpyard.mesh.isolation import is_isolated, marked
from mcpyard.mesh.link_answers import LinkAnswers
from mcpyard.mesh.local_servers import LocalServers
from mcpyard.mesh.messages import (
    Heard,
    Hello,
    Interests,
    NodeReport,
    OfServer,
    PlacementNews,
    ReleasedClient,
)
from mcpyard.mesh.node_interests import NodeInterests
from mcpyard.mesh.node_link import NodeLink
from mcpyard.mesh.node_links import NodeLinks
from mcpyard.mesh.picture import ClusterPicture, RulesOf
from mcpyard.mesh.questions import ServerQuestion
from mcpyard.mesh.routing import CallRouter, unreachable

log = logging.getLogger(__name__)


class Mesh:
    """Servers of all nodes of a cluster. The `Servers` port of a yard, and `LinkHandler`.

    Attributes:
        view: What this node knows of its cluster.
        picture: What is desired and observed of all servers.
        links: The links to other nodes.
        router: The way of calls that are not simply near.
        answers: What other nodes are answered.
        on_hint: Called when something changed that the store, or this node's duties, concern.
        on_ended: Called once no server runs here any more, while the links still stand.
    """

    def __init__(
        self,
        local: LocalServers,
        view: NodeView,
        certificates: NodeCertificates,
        rules_of: RulesOf,
        *,
        version: str = "",
    ) -> None:
        self.view = view
        self.on_hint: Callable[[], None] = lambda: None
        self.on_ended: Callable[[], Awaitable[None]] = partial(asyncio.sleep, 0)
        self._local = local
        self._admission = view.admission
        self._version = version
        self.links = NodeLinks(self._hello, certificates, self)
        self.picture = ClusterPicture(
            view, local.held, lambda node: self.links.get(node) is not None, rules_of
        )
        self.router = CallRouter(
            local, view, self.picture, self.links.get, lambda placement: self.learn([placement])
        )
        self.answers = LinkAnswers(local, self.router, self._known_placements)
        self._on_change: Callable[[Observed], None] = lambda _: None
        self._listener: NotificationListener | None = None
        self._interests = NodeInterests(view.name, local)
        self._figures: dict[UUID, Figures | None] = {}
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._unsent: set[UUID] = set()
        self._grip = False, False
        local.listen(self._local_changed)
        local.set_listener(self)

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Tell of every change of what is observed, here and on other nodes."""
        self._on_change = on_change

    def set_listener(self, listener: NotificationListener) -> None:
        """Send the notifications of all servers to a listener."""
        self._listener = listener

    def observed(self) -> Mapping[UUID, Observed]:
        """What is, of every server, wherever it runs."""
        return self.picture.observed

    def held(self) -> Mapping[UUID, Observed]:
        """What is, of every server that this node runs itself."""
        return self._local.held()

    def share(self, desired: Desired) -> Desired:
        """The pinned servers, and the shared ones that are placed here."""
        picture = self.picture
        if picture.take_desired(desired):
            for server in picture.news():
                self._announce(server)
            self.router.changes.happened()
            self.on_hint()
        now = self._admission.look()
        servers = desired.servers.items()
        return replace(
            desired, servers={id_: it for id_, it in servers if picture.is_share(id_, now)}
        )

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Carry out a plan for the servers of this node."""
        every = [self.picture.as_move(each) for each in actions]
        self._local.apply(every, desired)
        for action in every:
            if isinstance(action, plan.Forget):
                self._interests.forget(action.id)
                self._report(action.id)
                self._announce(action.id)

    def call(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Call a tool, wherever its server runs."""
        singleton = self.picture.singletons.get(server)
        if singleton is None:
            return self._local.call(server, tool, arguments, terms)
        if self.view.database_away:
            # This node may be isolated, and says so then.
            return self._ask(server, ServerQuestion(tool, arguments), terms)
        if self._admission.check(server, singleton=singleton) is Verdict.HERE:
            return self.router.near(server, tool, arguments, terms)
        return self.router.ask(server, ServerQuestion(tool, arguments), terms)

    def start(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> StartedCall | None:
        """Call a tool of a server of this node without waiting for anything (see `Servers`)."""
        if self.view.database_away:
            # This node may be isolated: whether it may answer is decided for each request.
            return None
        singleton = self.picture.singletons.get(server)
        if singleton is None or self._admission.check(server, singleton=singleton) is Verdict.HERE:
            return self._local.start(server, tool, arguments, terms, waiter)
        return None

    def request(
        self, server: UUID, method: str, params: bytes, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Ask a server anything, wherever it runs."""
        question = ServerQuestion(method, params, is_call=False)
        if server not in self.picture.singletons:
            return question.ask(self._local, server, terms)
        return self._ask(server, question, terms)

    def probe(self, server: UUID) -> None:
        """Try a remote server that is away."""
        if link := self._far_link(server):
            link.notify("probe", OfServer(server))
        else:
            self._local.probe(server)

    def tune(self, server: UUID, interest: NotificationInterest) -> None:
        """Which notifications of a server callers of this node want from now on."""
        if self._interests.set_own(server, interest):
            self._tell_all("tune", Interests({server: interest}))

    def release(self, client_key: str) -> None:
        """End the processes that a client had for itself, on all nodes."""
        self._local.release(client_key)
        self._tell_all("release", ReleasedClient(client_key))

    async def trial(self, server: DesiredServer) -> Observed:
        """Open a server on this node, look at it, and end it again."""
        return await self._local.trial(server)

    def log(self, server: UUID) -> Sequence[LogLine]:
        """The last lines that a server of this node wrote to its standard error."""
        return self._local.log(server)

    async def fetch_log(self, server: UUID) -> Sequence[LogLine]:
        """The last lines that a server wrote to its standard error, wherever it runs."""
        node = self._far_node(server)
        if node is None:
            return await self._local.fetch_log(server)
        link = self.links.get(node)
        if link is None:
            raise unreachable(node)
        return messages.read_log(await link.question("log", OfServer(server)))

    def figures(self, server: UUID) -> Figures | None:
        """What a server's processes use; of one on another node what it told the last time."""
        if link := self._far_link(server):
            # Figures are sampled in a thread, and links belong to the event loop.
            fetch = partial(self._fetch_figures, link, server)
            self._loop.call_soon_threadsafe(lambda: self._spawn(fetch()))
            return self._figures.get(server)
        return self._local.figures(server) if server in self._local.held() else None

    async def close(self) -> None:
        """End the servers of this node, then close the links: calls in flight are answered."""
        for task in self._tasks:
            task.cancel()
        await self._local.close()
        await self.on_ended()
        await self.links.close()

    def on_notification(self, server: UUID, method: str, params: bytes) -> None:
        """A server of this node sent a notification that belongs to no call."""
        self._hear(server, method, params)
        if server in self.picture.singletons:
            for link in self.links.all():
                if self._interests.is_wanted(link.node, server):
                    link.notify("heard", Heard(server, method, Raw(params)))

    def learn(self, placements: Iterable[Placement], *, from_store: bool = False) -> bool:
        """Take over placements that the store or another node told; whether any is news."""
        news = self._admission.learn(placements, from_store=from_store)
        self.placed(news, tell=from_store)
        return bool(news)

    def placed(self, news: Sequence[Placement], *, tell: bool = True) -> None:
        """Placements are news to this node: other nodes are told, and the servers looked at."""
        if not news:
            return
        if tell:
            self._tell_all("placements", PlacementNews(tuple(news)))
        self.router.changes.happened()
        for each in news:
            self._announce(each.server)
        if not tell:
            self.on_hint()

    def looked(self) -> None:
        """The membership looked at the clock, or at the store: servers may have to end."""
        lease = self.view.lease
        grip = lease.epoch > 0, lease.covers(self._admission.look())
        if grip != self._grip:
            self._grip = grip
            for server in self.picture.placed_on(self.view.name):
                self._announce(server)
        if self.picture.settles(self._admission.look()):
            for server in self.picture.news():
                self._announce(server)
        self.router.changes.happened()

    async def ask_placements(self, link: NodeLink) -> None:
        """Ask another node for the newest fences that it knows."""
        news = messages.read_placements(await link.question("placements"))
        self.learn(news.placements)

    def accept(self, hello: Hello) -> None:
        """Refuse a node that is not in the list of members."""
        if hello.node not in {each.node.name for each in self.view.peers}:
            self.on_hint()
            raise ClusterRefused(f'node "{hello.node}" is not in the list of members yet')

    def on_up(self, link: NodeLink) -> None:
        """Tell a node that is linked from now on all that it has to know."""
        self.router.lost_at.pop(link.node, None)
        held = self._local.held()
        shared = tuple(each for id_, each in held.items() if id_ in self.picture.singletons)
        link.notify("state", NodeReport(shared, full=True))
        link.notify("placements", self._known_placements())
        link.notify("tune", Interests(self._interests.own, full=True))
        self._look_at_node(link.node)

    def on_down(self, link: NodeLink) -> None:
        """A node cannot be reached any more, unless another link to it is there."""
        if self.links.get(link.node) is None:
            self.router.lost_at[link.node] = self._admission.look()
            self._interests.drop(link.node)
            self._look_at_node(link.node)
            self.on_hint()

    def answer(self, link: NodeLink, method: str, params: bytes) -> Coroutine[Any, Any, bytes]:
        """Answer a request of another node."""
        return self.answers.answer(link, method, params)

    def on_notice(self, link: NodeLink, method: str, params: bytes) -> None:
        """Take a notification of another node."""
        match method:
            case "state":
                for server in self.picture.take_report(link.node, messages.read_report(params)):
                    self._announce(server)
            case "placements":
                self.learn(messages.read_placements(params).placements)
            case "heard":
                heard = messages.read_heard(params)
                self._hear(heard.server, heard.method, bytes(heard.params))
            case "tune":
                self._interests.take(link.node, messages.read_interests(params))
            case "probe":
                self._local.probe(messages.read_server(params).server)
            case "release":
                self._local.release(messages.read_released(params).client_key)
            case _:
                log.debug("node %s sent %s, which is not known here", link.node, method)

    def _ask(
        self, server: UUID, question: ServerQuestion, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        work = self.router.ask(server, question, terms)
        return marked(work) if is_isolated(self.view, self.links) else work

    def _hello(self) -> Hello:
        name, epoch = self.view.name, self.view.lease.epoch
        return Hello(name, epoch, version=self._version, oldest=messages.OLDEST_PROTOCOL)

    def _known_placements(self) -> PlacementNews:
        return PlacementNews(tuple(self._admission.placements.values()))

    def _look_at_node(self, node: str) -> None:
        for server in self.picture.placed_on(node):
            self._announce(server)
        self.router.changes.happened()

    def _local_changed(self, observed: Observed) -> None:
        server = observed.id
        self._interests.apply(server)
        self._report(server)
        self._announce(server)
        self.router.changes.happened()
        self.on_hint()

    def _announce(self, server: UUID) -> None:
        """Say what a server is like by now; whoever hears it looks what is to be done about it."""
        self._on_change(self.picture.refresh(server) or Observed(server))

    def _report(self, server: UUID) -> None:
        """Tell the other nodes of a change, together with others of this moment."""
        if server not in self.picture.singletons and server in self._local.held():
            return
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._send_report)
        self._unsent.add(server)

    def _send_report(self) -> None:
        servers, self._unsent = self._unsent, set()
        held = self._local.held()
        observed = tuple(held[each] for each in servers if each in held)
        self._tell_all("state", NodeReport(observed, tuple(servers - held.keys())))

    def _tell_all(self, method: str, params: msgspec.Struct) -> None:
        for link in self.links.all():
            link.notify(method, params)

    def _hear(self, server: UUID, method: str, params: bytes) -> None:
        if self._listener is not None:
            self._listener.on_notification(server, method, params)

    def _far_node(self, server: UUID) -> str | None:
        placement = self._admission.placements.get(server)
        if server not in self.picture.singletons or placement is None:
            return None
        return placement.node if placement.node not in ("", self.view.name) else None

    def _far_link(self, server: UUID) -> NodeLink | None:
        node = self._far_node(server)
        return self.links.get(node) if node is not None else None

    async def _fetch_figures(self, link: NodeLink, server: UUID) -> None:
        try:
            answer = await link.question("figures", OfServer(server))
            self._figures[server] = messages.read_figures(answer)
        except YardError:
            self._figures.pop(server, None)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
