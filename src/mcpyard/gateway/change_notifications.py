"""Sends changes to every client that listens for them.

Lists are compared by what an address shows: a client is notified of a change only if the list it
would get is another one.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final, Protocol
from uuid import UUID

from mcpyard.domain.errors import NotFound
from mcpyard.gateway.exposures import PROMPTS, RESOURCES, TEMPLATES, TOOLS, Exposure
from mcpyard.gateway.protocol import MESSAGE, UPDATED
from mcpyard.gateway.requests import members_of, text_of
from mcpyard.gateway.selection import Selections
from mcpyard.wire.jsonrpc import RpcError
from mcpyard.yard.notifications import Notifications
from mcpyard.yard.yard import YardCore

log = logging.getLogger(__name__)

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "tools": (TOOLS,),
    "resources": (RESOURCES, TEMPLATES),
    "prompts": (PROMPTS,),
}

_SERVERS: Final = "servers"

_SETTLE: Final = 0.05
"""Seconds in which changes that come together are sent as one."""

_Digests = dict[str, int]


class ChangeListener(Protocol):
    """A client that listens for changes."""

    @property
    def path(self) -> str:
        """The address whose changes it listens for."""
        ...

    def changed(self, kind: str) -> None:
        """A list changed: tools, resources or prompts."""
        ...

    def shown(self, exposure: Exposure, notifications: Notifications) -> None:
        """The address shows other servers; its interest in them is to be set."""
        ...

    def updated(self, server: UUID, uri: str) -> None:
        """A resource of a server changed."""
        ...

    def logged(self, message: bytes) -> None:
        """A server logged something that concerns no call; the message's parameters."""
        ...


class ChangeNotifier:
    """Tells listeners."""

    def __init__(self, yard: YardCore, selections: Selections) -> None:
        self._yard = yard
        self._selections = selections
        self._listeners: set[ChangeListener] = set()
        self._digests: dict[str, _Digests] = {}
        self._watch: asyncio.Task[None] | None = None
        self._stop_listening = yard.notifications.listen(self)

    def add(self, listener: ChangeListener) -> None:
        """Tell somebody from now on."""
        if listener.path not in self._digests:
            self._digests[listener.path] = self._digest(listener.path)
        self._listeners.add(listener)
        if self._watch is None:
            self._watch = asyncio.create_task(self._watching(), name="gateway changes")

    def remove(self, listener: ChangeListener) -> None:
        """Tell somebody no more."""
        self._listeners.discard(listener)
        if all(each.path != listener.path for each in self._listeners):
            self._digests.pop(listener.path, None)

    async def close(self) -> None:
        """Tell nobody any more."""
        self._stop_listening()
        if self._watch:
            self._watch.cancel()
            await asyncio.wait({self._watch})

    def on_notification(self, server: UUID, method: str, params: bytes) -> None:
        """A server sent a notification (see `NotificationListener`)."""
        if method == UPDATED:
            uri = _uri_in(params)
            for listener in [*self._listeners] if uri else ():
                listener.updated(server, uri)
        elif method == MESSAGE:
            for listener in [*self._listeners]:
                if self._shows(listener.path, server):
                    listener.logged(params)

    async def _watching(self) -> None:
        events = self._yard.events()
        try:
            while await events.batch():
                await asyncio.sleep(_SETTLE)
                self._safely(self._yard.notifications.resend, "the servers")
                for path in [*self._digests]:
                    self._safely(partial(self._compare, path), path)
        finally:
            events.finish()

    def _safely(self, notify: Callable[[], None], place: str) -> None:
        """One address that cannot be looked at must not leave all others without news."""
        try:
            notify()
        except Exception:
            log.exception("the changes at %s could not be sent", place)

    def _compare(self, path: str) -> None:
        before, now = self._digests[path], self._digest(path)
        self._digests[path] = now
        kinds = [kind for kind in _KINDS if before.get(kind) != now.get(kind)]
        for listener in self._at(path) if kinds else ():
            for kind in kinds:
                listener.changed(kind)
        if _SERVERS in now and before.get(_SERVERS) != now[_SERVERS]:
            exposure = self._selections.exposure(path)
            for listener in self._at(path):
                listener.shown(exposure, self._yard.notifications)

    def _digest(self, path: str) -> _Digests:
        try:
            exposure = self._selections.exposure(path)
        except NotFound:
            return {}
        lists = {
            kind: hash(tuple(exposure.encoded_list(each, modern=False) for each in methods))
            for kind, methods in _KINDS.items()
        }
        # Only one that is connected says whether it has resources.
        servers = tuple(
            (server.id, observed.session is None) for server, observed in exposure.servers
        )
        return {**lists, _SERVERS: hash(servers)}

    def _at(self, path: str) -> Iterable[ChangeListener]:
        return [each for each in self._listeners if each.path == path]

    def _shows(self, path: str, server: UUID) -> bool:
        try:
            servers = self._selections.exposure(path).servers
        except NotFound:
            return False
        return any(each.id == server for each, _ in servers)


def exposed_part(uri: str, watched: Mapping[str, str]) -> str | None:
    """What the client calls a resource that changed; None when it watches no such.

    Args:
        uri: The resource, or a part of one.
        watched: What the client calls each resource that it watches.
    """
    for own, exposed in watched.items():
        whole = own.rstrip("/")
        if uri == own:
            return exposed
        if uri.startswith(whole + "/"):
            return exposed.rstrip("/") + uri[len(whole) :]
    return None


def _uri_in(params: bytes) -> str:
    try:
        return text_of(members_of(params, "params").get("uri"))
    except RpcError:
        return ""
