"""Sessions of the handshake era: what a client said once, and what is under way for it."""

import asyncio
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Final, Protocol
from uuid import UUID

import orjson
from msgspec import Raw
from msgspec.structs import replace

from mcpyard.domain.callers import Caller
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.ports import NotificationInterest
from mcpyard.gateway.change_notifications import exposed_part
from mcpyard.gateway.era_bridge import wants
from mcpyard.gateway.exchange import Exchange
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.pending_input import LONGEST
from mcpyard.gateway.protocol import MESSAGE, UPDATED
from mcpyard.gateway.requests import ClientEnvelope, GatewayClient
from mcpyard.gateway.resource_uris import ResourceLocation
from mcpyard.gateway.streams import Stream
from mcpyard.wire.handshake import LATEST
from mcpyard.wire.jsonrpc import INTERNAL_ERROR, Id, RpcError, notification, quoted, read_error
from mcpyard.wire.pending import take_note
from mcpyard.yard.notifications import Notifications

IDLE: Final = 1_800.0
"""Seconds without a word after which a session is over."""

MOST: Final = 10_000
"""Sessions of all callers at once; quotas keep those of each far below."""

_OVERHEAD: Final = 4096
"""Bytes that a session takes besides what its client said."""

_MOST_REQUESTS: Final = 64
_MOST_STREAMS: Final = 32
_MOST_URIS: Final = 1_000


def new_session_id() -> str:
    """An id that nobody can guess."""
    return secrets.token_urlsafe(24)


class Withdrawable(Protocol):
    """A request that is under way."""

    def withdraw(self) -> None:
        """The client does not want the answer any more, but is there."""
        ...


class ClientSession:
    """One client (see `ChangeListener`).

    Attributes:
        id: What the client sends along.
        path: The address it is of.
        client: Who it is.
        caller: Whose quotas it uses up.
        running: Its requests that are under way.
        push_stream: Carries its notifications, while it listens.
        used: When it was heard of last.
    """

    def __init__(
        self, name: str, path: str, client: GatewayClient, caller: Caller, now: float
    ) -> None:
        self.id = name
        self.path = path
        self.client = replace(client, client_key=self.id)
        self.caller = caller
        self.running: dict[Id, Withdrawable] = {}
        self.push_stream: Stream | None = None
        self.used = now
        self._streams: dict[str, Stream] = {}
        self._opened = 0
        self._requests: dict[Id, asyncio.Future[bytes]] = {}
        self._count = 0
        self._uris: dict[UUID, dict[str, str]] = {}
        self._size = _OVERHEAD + len(client.capabilities)
        caller.kept += self._size

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way and nobody listens."""
        return not self.running and not (self.push_stream and self.push_stream.writing)

    def open_stream(self) -> Stream:
        """A stream that the client can come back to."""
        self._opened += 1
        stream = Stream(str(self._opened), self.caller)
        self._streams[stream.name] = stream
        while len(self._streams) > _MOST_STREAMS:
            self._streams.pop(next(iter(self._streams))).release()
        if self.client.version >= LATEST:
            stream.prime()
        return stream

    def listen(self) -> Stream:
        """The stream for notifications; an older one ends."""
        if self.push_stream:
            self.push_stream.finish()
        self.push_stream = self.open_stream()
        return self.push_stream

    def resumed(self, last_event: str) -> tuple[Stream, int] | None:
        """The stream of an event, and the event's number; None when that is not kept."""
        name, _, number = last_event.rpartition("-")
        stream, count = self._streams.get(name), whole_number(number)
        return None if stream is None or count is None else (stream, count)

    async def ask(self, exchange: Exchange, method: str, params: bytes) -> bytes:
        """Ask the client something during a request; the result as it came.

        Raises:
            RpcError: It refused, or did not answer.
        """
        if len(self._requests) >= _MOST_REQUESTS:
            raise RpcError(INTERNAL_ERROR, "too many requests to the client at once")
        self._count += 1
        key = f"yard-{self._count}"
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(take_note)
        self._requests[key] = answer
        message = b'{"jsonrpc":"2.0","id":%b,"method":%b,"params":%b}'
        exchange.send(message % (orjson.dumps(key), quoted(method), params))
        try:
            async with asyncio.timeout(LONGEST):
                return await answer
        except TimeoutError:
            raise RpcError(INTERNAL_ERROR, "the client did not answer in time") from None
        finally:
            del self._requests[key]

    def on_reply(self, message: ClientEnvelope) -> None:
        """The client answered something."""
        reply = self._requests.get(message.id) if message.id is not None else None
        if reply is None or reply.done():
            return
        if bytes(message.error):
            reply.set_exception(read_error(Raw(bytes(message.error))))
        else:
            reply.set_result(bytes(message.result))

    def changed(self, kind: str) -> None:
        """A list changed."""
        self._notify(f"notifications/{kind}/list_changed", b"{}")

    def updated(self, server: UUID, uri: str) -> None:
        """A resource of a server changed."""
        if (exposed := exposed_part(uri, self._uris.get(server, {}))) is not None:
            self._notify(UPDATED, orjson.dumps({"uri": exposed}))

    def logged(self, message: bytes) -> None:
        """A server logged something."""
        if wants(self.client.log_level, message, unsaid=False):
            self._notify(MESSAGE, message)

    def set_level(self, level: str, exposure: Exposure, notifications: Notifications) -> None:
        """Want log messages of this level, and of those that matter more."""
        self.client = replace(self.client, log_level=level)
        self.shown(exposure, notifications)

    def shown(self, exposure: Exposure, notifications: Notifications) -> None:
        """The address shows these servers from now on: each is to log as it was wanted of all."""
        if self.client.log_level is not None:
            for server, _ in exposure.servers:
                self._set_interest(server.id, notifications)

    def subscribe(self, uri: str, place: ResourceLocation, notifications: Notifications) -> None:
        """Watch a resource for changes, by what the client calls it."""
        if sum(map(len, self._uris.values())) >= _MOST_URIS:
            raise RpcError(INTERNAL_ERROR, f"{_MOST_URIS} resources are already subscribed")
        uris = self._uris.setdefault(place.server, {})
        self._keep(len(uri) + len(place.own) if place.own not in uris else 0)
        uris[place.own] = uri
        self._set_interest(place.server, notifications)

    def unsubscribe(self, uri: str, notifications: Notifications) -> None:
        """Watch it no more."""
        for server, uris in self._uris.items():
            for own in [own for own, exposed in uris.items() if exposed == uri]:
                del uris[own]
                self._keep(-len(uri) - len(own))
                self._set_interest(server, notifications)

    def end(self, notifications: Notifications) -> None:
        """The session is over: what is under way is cancelled."""
        for exchange in [*self.running.values()]:
            exchange.withdraw()
        self.stop_notifying()
        for stream in self._streams.values():
            stream.release()
        self._keep(-self._size)
        notifications.drop_interests(self)

    def stop_notifying(self) -> None:
        """Send the client no notifications any more."""
        if self.push_stream:
            self.push_stream.finish()
            self.push_stream = None

    def _keep(self, size: int) -> None:
        self._size += size
        self.caller.kept += size

    def _set_interest(self, server: UUID, notifications: Notifications) -> None:
        uris = self._uris.get(server, {})
        interest = NotificationInterest(self.client.log_level, frozenset(uris))
        notifications.set_interest(self, server, interest)

    def _notify(self, method: str, params: bytes) -> None:
        if self.push_stream:
            self.push_stream.put(notification(method, params))
            self.push_stream = None if self.push_stream.broken else self.push_stream


class Sessions:
    """All sessions.

    Args:
        end: Ends one.
    """

    def __init__(self, end: Callable[[ClientSession], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = end
        self._all: dict[str, ClientSession] = {}
        self._by_caller: dict[Caller, dict[str, ClientSession]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._all)

    def __iter__(self) -> Iterator[ClientSession]:
        """All of them."""
        yield from [*self._all.values()]

    def make_room(self, caller: Caller, size: int) -> None:
        """Let a caller have one more session, if need be in the place of its own oldest idle one.

        Raises:
            OverQuota: None of its sessions is idle.
        """
        quotas = caller.quotas
        while len(self._by_caller.get(caller, ())) >= quotas.sessions or len(self._all) >= MOST:
            if not self._evict(caller, "sessions"):
                raise caller.refuse("sessions")
        while caller.kept + _OVERHEAD + size > quotas.memory:
            if not self._evict(caller, "memory"):
                raise caller.refuse("memory")

    def add(self, session: ClientSession) -> None:
        """Keep a session."""
        caller = session.caller
        caller.evict = partial(self._evict, caller)
        self._all[session.id] = session
        self._by_caller.setdefault(caller, {})[session.id] = session

    def find(self, name: str, path: str, who: str) -> ClientSession | None:
        """The session of that id, if it is this caller's and of this address."""
        session = self._all.get(name)
        if session is None or (session.path, session.client.who) != (path, who):
            return None
        session.used = self._loop.time()
        return session

    def remove(self, session: ClientSession) -> None:
        """Forget a session."""
        self._all.pop(session.id, None)
        of_caller = self._by_caller.get(session.caller, {})
        of_caller.pop(session.id, None)
        if not of_caller:
            self._by_caller.pop(session.caller, None)

    def overdue(self, now: float) -> list[ClientSession]:
        """The sessions that were silent too long."""
        return [each for each in self if each.is_idle and now - each.used > IDLE]

    def _evict(self, caller: Caller, quota: str) -> bool:
        """End a caller's oldest idle session, of those that use something of a quota."""
        idle = [each for each in self._by_caller.get(caller, {}).values() if each.is_idle]
        if quota == "processes":
            idle = [each for each in idle if each.id in caller.processes]
        if not idle:
            return False
        caller.evicted[quota] += 1
        self._end(min(idle, key=attrgetter("used")))
        return True
