"""What a daemon answers over HTTP: the gateway, the REST API and the web page, wired.

It is a module of its own because loading it takes a good part of a start; `up` does so while its
servers start.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from mcpyard.api.app import Pages, build
from mcpyard.api.audit import Audit
from mcpyard.api.http_server.idle_timer import Idle
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.app import WiredYard
from mcpyard.asgi_scope import Principal
from mcpyard.cli.daemon.up_options import UpOptions
from mcpyard.cli.home_files import AUDIT_FILE
from mcpyard.gateway.app import Gateway
from mcpyard.runtime.clock import SystemClock
from mcpyard.store.home import Home

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
        home, gateway = Home(options.home), Gateway(yard, closing)
        self._keys = keys = _keys(home, yard)
        keys.revocations.listen(gateway.dismiss)
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
        if options.idle_exit is not None:
            app = Idle(app, options.idle_exit, stop)
        self.web = WebServer(app, options.bind.tls, options.limits.connections)

    async def link(self, url: str) -> str:
        """A one-time link to the web page."""
        from mcpyard.api.page_login import link_address

        return link_address(url, await self._keys.make_link())


def _keys(home: Home, yard: WiredYard) -> Keys:
    renew = None if home.token_is_fixed else home.renew_token
    admin = AdminKey(home.token(), renew)
    return Keys(admin, yard.storage.call_tokens, yard.storage.sessions, SystemClock())


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
