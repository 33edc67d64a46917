"""Opens servers: spawns or connects, agrees on a protocol, remembers how it went."""

import asyncio
import errno
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mcpyard.domain import limits
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch, Unlaunchable
from mcpyard.domain.definition.secrets import secrets_of
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.model import Transport
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import KnownConnection, Memory
from mcpyard.runtime.causes import THIS_YARD, exit_cause, spawn_cause, unlaunchable_cause
from mcpyard.runtime.open_server import LiveServer, ServerProcess
from mcpyard.runtime.processes.child_environment import child_environment
from mcpyard.runtime.processes.keeper_client import ChildProcess, Exit, KeeperClient, SpawnFailed
from mcpyard.runtime.server_api import ConnectionEvents, NoRoom, OpenFailed
from mcpyard.runtime.signins import SignInManager
from mcpyard.runtime.stderr import StderrReader
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.link import Link, LinkFailed
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from mcpyard.wire.stdio import StdioLink

if TYPE_CHECKING:
    import httpx2

_NO_ROOM: Final = {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM}

_EXIT_WITHOUT_EOF: Final = 0.25
"""Seconds after an exit by which the end of its output should have been seen."""


class WireOpener:
    """Opens servers over the wire.

    Attributes:
        sign_ins: Brings the tokens of remote servers.
        here: What a server that turns out to be this yard is known by.
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
        self.here = SelfIdentity()
        self._keeper = keeper
        self._memory = memory
        self._environment = environment
        self._face = face
        self._died_of_the_probe: set[str] = set()

    async def open(self, server: DesiredServer, hooks: ConnectionEvents) -> LiveServer:
        """Open a server (see `Opener`)."""
        launch = server.launch
        if server.this_yard:
            raise OpenFailed(THIS_YARD)
        if isinstance(launch, Unlaunchable):
            raise OpenFailed(unlaunchable_cause(launch))
        try:
            if isinstance(launch, LocalLaunch):
                live = await self._open_local(server, launch, hooks)
            else:
                live = await self._open_remote(server, launch, hooks)
        except LinkFailed as failure:
            self._memory.keep_reached(server.launch_digest, None)
            raise OpenFailed(failure.cause) from None
        if limit := server.config.concurrency:
            live.limit_calls(limit)
        return live

    async def close(self) -> None:
        """End the keeper, and with it whatever is left."""
        await self.sign_ins.close()
        await self._keeper.close()

    async def _open_local(
        self, server: DesiredServer, launch: LocalLaunch, hooks: ConnectionEvents
    ) -> LiveServer:
        hooks.ring.keep_secret(secrets_of(launch))
        child = await self._spawn(launch)
        mark = hooks.ring.mark
        stderr = StderrReader(child.stderr, hooks.ring)
        process = ServerProcess(child, stderr)

        def tail() -> tuple[str, ...]:
            stderr.drain()
            return hooks.ring.tail(mark)

        async def explain() -> Cause | None:
            end = await child.last_exit()
            return end and exit_cause(end, launch, tail())

        limit = server.config.max_message
        link = StdioLink(child.stdin, child.stdout, limit=limit, explain_loss=explain)
        try:
            session = await self._meet_local(server, launch, link, hooks)
        except LinkFailed as failure:
            # One that ended before it was even asked is known by its exit status alone.
            ended = await explain() if failure.cause.code is Code.CLOSED else None
            last_words = tail()
            await process.kill()
            raise LinkFailed(replace(ended or failure.cause, stderr=last_words)) from None
        except BaseException:
            await process.kill()
            raise
        child.exited.add_done_callback(lambda done: _ended(done.result(), launch, hooks, tail))
        return LiveServer(session, process)

    async def _meet_local(
        self, server: DesiredServer, launch: LocalLaunch, link: Link, hooks: ConnectionEvents
    ) -> ServerSession:
        digest = server.launch_digest
        known = self._memory.reached(digest)
        era = Era.HANDSHAKE if digest in self._died_of_the_probe else known and known.era
        seconds = limits.start_limit(launch.command, server.config.start_timeout)
        try:
            session = await self._meet(link, era, seconds, hooks)
        except LinkFailed as failure:
            self._died_of_the_probe.discard(digest)
            if era is None and failure.cause.code in {Code.EXITED, Code.CLOSED}:
                self._died_of_the_probe.add(digest)
            raise
        self._memory.keep_reached(digest, KnownConnection(Era(session.era)))
        return session

    async def _spawn(self, launch: LocalLaunch) -> ChildProcess:
        environment = child_environment(self._environment, launch)
        try:
            return await self._keeper.spawn(launch.command, environment, launch.cwd)
        except SpawnFailed as failure:
            if failure.errno in _NO_ROOM:
                raise NoRoom from failure
            raise OpenFailed(spawn_cause(failure, launch)) from None

    async def _open_remote(
        self, server: DesiredServer, launch: RemoteLaunch, hooks: ConnectionEvents
    ) -> LiveServer:
        # Most yards have no remote server; those that have none do without the HTTP client.
        from mcpyard.wire.remote.http_errors import looks_like_sse_only  # noqa: PLC0415

        known = self._memory.reached(server.launch_digest)
        transport = (known and known.transport) or launch.transport or Transport.HTTP
        try:
            return await self._open_over(transport, server, launch, hooks)
        except LinkFailed as failure:
            if transport is Transport.SSE or not looks_like_sse_only(failure.cause):
                raise
        return await self._open_over(Transport.SSE, server, launch, hooks)

    async def _open_over(
        self,
        transport: Transport,
        server: DesiredServer,
        launch: RemoteLaunch,
        hooks: ConnectionEvents,
    ) -> LiveServer:
        known = self._memory.reached(server.launch_digest)
        auth = self.sign_ins.auth(launch)
        link = _remote_link(transport, launch, server.config.max_message, auth)
        seconds = limits.start_limit((), server.config.start_timeout)
        session = await self._meet(link, known and known.era, seconds, hooks)
        reached = KnownConnection(Era(session.era), transport)
        self._memory.keep_reached(server.launch_digest, reached)
        return LiveServer(session, None)

    async def _meet(
        self, link: Link, era: Era | None, seconds: float, hooks: ConnectionEvents
    ) -> ServerSession:
        ears = _EventForwarder(hooks)
        opening = Opening(seconds, remembered=era.value if era else None)
        session = await open_session(link, self._face, opening, ears.handlers())
        if self.here.is_told_by(session.server_info):
            await session.close()
            raise LinkFailed(THIS_YARD)
        ears.met()
        return session


class _EventForwarder:
    """Hears for its hooks what a server says.

    A link that is lost before the session stands fails the opening itself.
    """

    def __init__(self, hooks: ConnectionEvents) -> None:
        self._hooks = hooks
        self._met = False
        self._early: list[Cause] = []

    def handlers(self) -> Handlers:
        return Handlers(
            on_list_changed=self._changed,
            on_notification=lambda method, params, _stream: self._hooks.told(method, params),
            on_lost=self._lost,
            on_noise=self._noise,
        )

    def met(self) -> None:
        self._met = True
        for cause in self._early:
            self._hooks.lost(cause)

    def _lost(self, cause: Cause) -> None:
        if self._met:
            self._hooks.lost(cause)
        else:
            self._early.append(cause)

    def _changed(self, kind: str) -> None:
        if kind == "tools":
            self._hooks.tools_changed()
        else:
            self._hooks.offer_changed()

    def _noise(self, reason: str, sample: bytes) -> None:
        self._hooks.ring.add([b"%b: %b" % (reason.encode(), sample)])


def _ended(
    end: Exit, launch: LocalLaunch, hooks: ConnectionEvents, tail: Callable[[], tuple[str, ...]]
) -> None:
    """The end of its output tells of an exit sooner, unless somebody else holds the pipe."""
    loop = asyncio.get_running_loop()
    loop.call_later(_EXIT_WITHOUT_EOF, lambda: hooks.lost(exit_cause(end, launch, tail())))


def _remote_link(
    transport: Transport, launch: RemoteLaunch, limit: int, auth: "httpx2.Auth | None"
) -> Link:
    if transport is Transport.SSE:
        from mcpyard.wire.remote.sse import SseLink  # noqa: PLC0415

        return SseLink(launch.url, launch.headers, limit=limit, auth=auth)
    from mcpyard.wire.remote.http import HttpLink  # noqa: PLC0415

    return HttpLink(launch.url, launch.headers, limit=limit, auth=auth)
