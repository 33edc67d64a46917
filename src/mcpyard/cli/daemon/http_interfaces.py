"""What a daemon answers over HTTP: the gateway, the REST API and the web page, wired.

It is a module of its own because loading it takes a good part of a start; `up` does so while its
servers start.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from mcpyard.api.app import Pages, build
from mcpyard.api.audit import Audit
from mcpyard.api.http_server.idle_timer import Idle
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.isolation import IsolationGuard
from mcpyard.api.security.keys import AdminKey, Keys, Tickets, hashed
from mcpyard.api.security.other_nodes import OtherNodes
from mcpyard.api.security.revocations import Revocations
from mcpyard.app import WiredYard
from mcpyard.asgi_scope import Principal
from mcpyard.cli.daemon.binding import BindOptions
from mcpyard.cli.daemon.up_options import UpOptions
from mcpyard.cli.home_files import AUDIT_FILE
from mcpyard.domain import limits
from mcpyard.domain.node_channel import NodeChannel
from mcpyard.gateway.app import Gateway
from mcpyard.runtime.clock import SystemClock
from mcpyard.store.home import Home
from mcpyard.yard.calls.recording import NotRecording

if TYPE_CHECKING:
    from starlette.routing import Route

    from mcpyard.web.context import PageContext


class HttpInterfaces:
    """The interfaces of a yard, and the web server that is to serve them.

    Args:
        yard: What they show and call.
        options: How to listen, and what is allowed.
        closing: Ends their streams.
        stop: Called when nobody used them for as long as the options say.
    """

    def __init__(
        self, yard: WiredYard, options: UpOptions, closing: asyncio.Event, stop: Callable[[], None]
    ) -> None:
        home, node = Home(options.home), yard.storage.node
        channel = node.channel if node else None
        gateway = Gateway(yard, closing, channel)
        self._home, self._node = home, node
        self._keys = keys = _keys(home, yard, channel)
        keys.revocations.listen(gateway.dismiss)
        yard.calls.recording.objection = partial(recording_objection, yard, options.bind)
        yard.calls.recording.refresh()
        yard.calls.recording.hide(home.token())
        keys.revocations.listen(lambda _: yard.calls.recording.refresh())
        yard.token_revoked = lambda token: keys.revocations.dispatch(Principal.holding(token).name)
        app = build(
            yard,
            keys=keys,
            hosts=options.bind.hosts,
            closing=closing,
            audit=Audit(home.folder / AUDIT_FILE),
            pages=_pages(yard, closing, options, keys),
            gateway=gateway,
        )
        if yard.cluster.exists:
            app = IsolationGuard(app, lambda: yard.cluster.isolated)
        if options.idle_exit is not None:
            app = Idle(app, options.idle_exit, stop)
        last = limits.LAST_REQUESTS if yard.cluster.exists else limits.SHUTDOWN
        self.web = WebServer(app, options.bind.tls, options.limits.connections, last)

    async def share_token(self) -> None:
        """Let the admin token of the first node open every node of the cluster."""
        if node := self._node:
            home = self._home
            await node.share_admin(hashed(home.token()), fixed=home.token_is_fixed)

    async def link(self, url: str) -> str:
        """A one-time link to the web page."""
        from mcpyard.api.page_login import link_address

        return link_address(url, await self._keys.make_link())


def recording_objection(yard: WiredYard, bind: BindOptions) -> NotRecording | None:
    """Why calls are not recorded unless an administrator says so."""
    if yard.cluster.exists:
        return NotRecording.CLUSTER
    if not bind.is_local:
        return NotRecording.NETWORK
    now = datetime.now(UTC)
    tokens = yard.storage.call_tokens.all()
    others = any(each.revoked is None and not each.is_expired(now) for each in tokens)
    return NotRecording.TOKENS if others else None


def _keys(home: Home, yard: WiredYard, channel: NodeChannel | None) -> Keys:
    def renewed() -> str:
        token = home.renew_token()
        yard.calls.recording.hide(token)
        return token

    renew = None if home.token_is_fixed else renewed
    node = yard.storage.node
    cluster_hash = node.admin_hash if node else lambda: None
    admin = AdminKey(home.token(), renew, cluster_hash)
    clock, tickets, revocations = (
        SystemClock(),
        Tickets(channel.node if channel else ""),
        Revocations(),
    )
    nodes = None
    if channel and node:
        nodes = OtherNodes(
            channel,
            node.shared_keys(),
            revocations,
            lambda ticket, cookie: tickets.redeem(ticket, cookie, clock.monotonic()),
            yard.logged_in,
        )
    storage = yard.storage
    return Keys(admin, storage.call_tokens, storage.sessions, clock, tickets, revocations, nodes)


def _pages(yard: WiredYard, closing: asyncio.Event, options: UpOptions, keys: Keys) -> Pages:
    """Loads the page when somebody opens it, in a thread: calls go on meanwhile."""

    def context() -> "PageContext":
        from mcpyard.api.tokens import TokenStore
        from mcpyard.cli.commands.connect import bridge_command
        from mcpyard.web.context import PageContext

        bridge = tuple(bridge_command(options.home))
        return PageContext(str(options.home.absolute()), bridge, TokenStore(keys))

    def load() -> "Callable[[], list[Route]]":
        from mcpyard.web.app import pages

        return partial(pages, yard, closing, context())

    async def loaded() -> "list[Route]":
        return (await asyncio.to_thread(load))()

    return loaded
