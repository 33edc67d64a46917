"""Opens servers: spawns or connects, agrees on a protocol, remembers how it went."""

import asyncio
import errno
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from msgspec.structs import replace

from mcpyard.domain import limits
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.secrets import secrets_of, without_secrets
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import NotHere, Problem
from mcpyard.domain.model import Transport
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import KnownConnection, Memory
from mcpyard.runtime.causes import THIS_YARD, exit_cause, spawn_cause, unlaunchable_cause
from mcpyard.runtime.open_server import LiveServer, ServerProcess
from mcpyard.runtime.processes.child_environment import child_environment
from mcpyard.runtime.processes.keeper_client import ChildProcess, Exit, KeeperClient, SpawnFailed
from mcpyard.runtime.remote_parts import load_remote_parts
from mcpyard.runtime.server_api import ConnectionEvents, NoRoom, OpenFailed
from mcpyard.runtime.signins import SignInManager
from mcpyard.runtime.stderr import StderrReader
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.link import Link, LinkFailed
from mcpyard.wire.pending import FLOOD
from mcpyard.wire.remote.throttle import Throttle
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from mcpyard.wire.stdio import StdioLink

if TYPE_CHECKING:
    import httpx2

    from mcpyard.wire.remote.sse import SseLink
    from mcpyard.wire.remote.streamable_http import HttpLink

_NO_ROOM: Final = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}

_FLOODS: Final = Problem(
    "stdout", "too many lines are not answers; mcpyard reads them at a lower rate"
)

_EXIT_WITHOUT_EOF: Final = 0.25
"""Seconds after an exit by which the end of its output should have been seen."""


Fence = Callable[[UUID], int | None]
"""The fence under which this node may start a server now; None for one that no node shares.

A server of another node, or of none, is refused with `OpenFailed(LEASE_EXPIRED)`.
"""

_FENCE_VARIABLE: Final = "MCPYARD_FENCE"


def _no_cluster(_server: UUID) -> None:
    """Nothing is shared with another node."""


class WireOpener:
    """Opens servers over the wire.

    Attributes:
        sign_ins: Brings the tokens of remote servers.
        identity: What a server that turns out to be this yard is known by.
        fence: The fence under which this node of a cluster runs a server.
        admits: Whether a call of a server that waited for its turn may begin on this node still.
    """

    def __init__(
        self,
        keeper: KeeperClient,
        memory: Memory,
        environment: Mapping[str, str],
        face: ClientFace,
        sign_ins: SignInManager,
    ) -> None:
        self.sign_ins = sign_ins
        self.identity = SelfIdentity()
        self.fence: Fence = _no_cluster
        self.admits: Callable[[UUID], bool] = lambda _: True
        self._keeper = keeper
        self._memory = memory
        self._environment = environment
        self._face = face
        self._died_of_the_probe: set[str] = set()
        self._throttles: dict[str, Throttle] = {}

    async def open(self, server: DesiredServer, events: ConnectionEvents) -> LiveServer:
        """Open a server (see `Opener`)."""
        launch = server.launch
        if server.this_yard:
            raise OpenFailed(THIS_YARD)
        if isinstance(launch, Unlaunchable):
            raise OpenFailed(unlaunchable_cause(launch))
        events.ring.keep_secret(secrets_of(launch))
        fence = self.fence(server.id)
        try:
            if isinstance(launch, LocalLaunch):
                live = await self._open_local(server, launch, events, fence)
            else:
                live = await self._open_remote(server, launch, events)
        except LinkFailed as failure:
            if not failure.cause.retry_after:
                self._memory.keep_reached(server.launch_digest, None)
            raise OpenFailed(without_secrets(failure.cause, launch)) from None
        live.limit_calls(server.config.calls_at_once, server.config.queue)
        return live

    async def close(self) -> None:
        """End the keeper, and with it whatever is left."""
        await self.sign_ins.close()
        await self._keeper.close()

    async def _open_local(
        self,
        server: DesiredServer,
        launch: LocalLaunch,
        events: ConnectionEvents,
        fence: int | None,
    ) -> LiveServer:
        child = await self._spawn(server, launch, fence)
        mark = events.ring.mark
        stderr = StderrReader(child.stderr, events.ring)
        process = ServerProcess(child, stderr)

        def tail() -> tuple[str, ...]:
            stderr.drain()
            return events.ring.tail(mark)

        async def explain() -> Cause | None:
            end = await child.last_exit()
            return end and exit_cause(end, launch, tail())

        limit = server.config.max_message
        link = StdioLink(child.stdin, child.stdout, limit=limit, explain_loss=explain)
        try:
            session = await self._meet_local(server, launch, link, events)
        except LinkFailed as failure:
            # One that ended before it was even asked is known by its exit status alone.
            ended = await explain() if failure.cause.code is Code.CLOSED else None
            last_words = tail()
            await process.kill()
            raise LinkFailed(replace(ended or failure.cause, stderr=last_words)) from None
        except BaseException:
            await process.kill()
            raise
        child.exited.add_done_callback(lambda done: _ended(done.result(), launch, events, tail))
        return LiveServer(session, process)

    async def _meet_local(
        self, server: DesiredServer, launch: LocalLaunch, link: Link, events: ConnectionEvents
    ) -> ServerSession:
        digest = server.launch_digest
        connection = self._memory.reached(digest)
        era = Era.HANDSHAKE if digest in self._died_of_the_probe else connection and connection.era
        seconds = limits.start_limit(launch.command, server.config.start_timeout)
        try:
            session = await self._meet(link, era, seconds, self._forward(server, events))
        except LinkFailed as failure:
            self._died_of_the_probe.discard(digest)
            if era is None and failure.cause.code in {Code.EXITED, Code.CLOSED}:
                self._died_of_the_probe.add(digest)
            raise
        self._memory.keep_reached(digest, KnownConnection(Era(session.era)))
        return session

    async def _spawn(
        self, server: DesiredServer, launch: LocalLaunch, fence: int | None
    ) -> ChildProcess:
        environment = child_environment(self._environment, launch)
        if fence is not None:
            environment[_FENCE_VARIABLE] = str(fence)
        fenced = launch.singleton and fence is not None
        arguments = launch.command, environment, launch.cwd, server.config.limits
        try:
            return await self._keeper.spawn(*arguments, fenced=fenced)
        except SpawnFailed as failure:
            if failure.errno in _NO_ROOM:
                raise NoRoom from failure
            raise OpenFailed(without_secrets(spawn_cause(failure, launch), launch)) from None

    async def _open_remote(
        self, server: DesiredServer, launch: RemoteLaunch, events: ConnectionEvents
    ) -> LiveServer:
        await load_remote_parts()
        from mcpyard.wire.remote.http_errors import looks_like_sse_only  # noqa: PLC0415

        if self._throttle(server).left:
            raise LinkFailed(self._throttle(server).cause())
        connection = self._memory.reached(server.launch_digest)
        transport = (connection and connection.transport) or launch.transport or Transport.HTTP
        try:
            return await self._open_over(transport, server, launch, events)
        except LinkFailed as failure:
            if transport is Transport.SSE or not looks_like_sse_only(failure.cause):
                raise
        return await self._open_over(Transport.SSE, server, launch, events)

    async def _open_over(
        self,
        transport: Transport,
        server: DesiredServer,
        launch: RemoteLaunch,
        events: ConnectionEvents,
    ) -> LiveServer:
        last = self._memory.reached(server.launch_digest)
        auth = self.sign_ins.auth(launch)
        link = _remote_link(transport, launch, server.config.max_message, auth)
        link.throttle = throttle = self._throttle(server)
        seconds = limits.start_limit((), server.config.start_timeout)
        session = await self._meet(link, last and last.era, seconds, self._forward(server, events))
        connection = KnownConnection(Era(session.era), transport)
        self._memory.keep_reached(server.launch_digest, connection)
        return LiveServer(session, None, throttle)

    def _throttle(self, server: DesiredServer) -> Throttle:
        """The throttle of a server; those that are over are forgotten when a new one is made."""
        digest = server.launch_digest
        if digest not in self._throttles:
            self._throttles = {key: each for key, each in self._throttles.items() if each.left}
        return self._throttles.setdefault(digest, Throttle())

    def _forward(self, server: DesiredServer, events: ConnectionEvents) -> "_EventForwarder":
        def check_turn() -> None:
            if not self.admits(server.id):
                raise NotHere("another node may run the server by now")

        return _EventForwarder(events, check_turn)

    async def _meet(
        self, link: Link, era: Era | None, seconds: float, forwarder: "_EventForwarder"
    ) -> ServerSession:
        opening = Opening(seconds, last_era=era.value if era else None)
        session = await open_session(link, self._face, opening, forwarder.handlers())
        if self.identity.matches_info(session.server_info):
            await session.close()
            raise LinkFailed(THIS_YARD)
        forwarder.deliver_losses()
        return session


class _EventForwarder:
    """Passes the events of a link on.

    A link that is lost before the session stands fails the opening itself.
    """

    def __init__(self, events: ConnectionEvents, check_turn: Callable[[], None]) -> None:
        self._events = events
        self._check_turn = check_turn
        self._is_open = False
        self._early: list[Cause] = []

    def handlers(self) -> Handlers:
        return Handlers(
            on_list_changed=self._events.on_list_changed,
            on_notification=self._events.on_notification,
            on_log=self._events.ring.add_message,
            on_lost=self._lost,
            on_noise=self._noise,
            on_turn=self._check_turn,
        )

    def deliver_losses(self) -> None:
        self._is_open = True
        for cause in self._early:
            self._events.lost(cause)

    def _lost(self, cause: Cause) -> None:
        if self._is_open:
            self._events.lost(cause)
        else:
            self._early.append(cause)

    def _noise(self, reason: str, sample: bytes) -> None:
        if reason == FLOOD:
            self._events.on_warning(_FLOODS)
        else:
            self._events.ring.add([b"%b: %b" % (reason.encode(), sample)])


def _ended(
    end: Exit, launch: LocalLaunch, events: ConnectionEvents, tail: Callable[[], tuple[str, ...]]
) -> None:
    """The end of its output tells of an exit sooner, unless somebody else holds the pipe."""
    loop = asyncio.get_running_loop()
    loop.call_later(_EXIT_WITHOUT_EOF, lambda: events.lost(exit_cause(end, launch, tail())))


def _remote_link(
    transport: Transport, launch: RemoteLaunch, limit: int, auth: "httpx2.Auth | None"
) -> "HttpLink | SseLink":
    if transport is Transport.SSE:
        from mcpyard.wire.remote.sse import SseLink  # noqa: PLC0415

        return SseLink(launch.url, launch.headers, limit=limit, auth=auth)
    from mcpyard.wire.remote.streamable_http import HttpLink  # noqa: PLC0415

    return HttpLink(launch.url, launch.headers, limit=limit, auth=auth)
