"""`subscriptions/listen`: one long answer that reports changes until the client closes it."""

import asyncio
from typing import Final
from uuid import UUID

import orjson

from mcpyard.domain.callers import Callers
from mcpyard.domain.narrowing import is_array, is_object, texts_of
from mcpyard.domain.ports import NotificationInterest
from mcpyard.gateway.change_notifications import ChangeNotifier, exposed_part
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.protocol import META, SUBSCRIPTION_ID, UPDATED
from mcpyard.gateway.requests import Request, decoded
from mcpyard.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError, success
from mcpyard.yard.notifications import Notifications

MOST: Final = 1_000
"""Streams open at once."""

_MOST_URIS: Final = 1_000
ACKNOWLEDGED: Final = "notifications/subscriptions/acknowledged"
_KINDS: Final = ("tools", "resources", "prompts")
URIS: Final = "resourceSubscriptions"


class Listening:
    """The open streams."""

    def __init__(
        self, notifications: Notifications, changes: ChangeNotifier, callers: Callers
    ) -> None:
        self._callers = callers
        self._notifications = notifications
        self._changes = changes
        self._open: set[_Stream] = set()

    async def serve(self, request: Request) -> None:
        """Tell a client of changes until it goes away, is dismissed, or the yard ends."""
        if len(self._open) >= MOST:
            raise RpcError(INTERNAL_ERROR, f"{MOST} streams are already open")
        stream = _Stream(request)
        with self._callers.of(stream.who).streaming():
            await self._serve(stream, request)
        if request.exchange:
            result = orjson.dumps({"resultType": "complete", META: stream.meta})
            await request.exchange.answer(success(request.id, result))

    async def _serve(self, stream: "_Stream", request: Request) -> None:
        self._open.add(stream)
        try:
            stream.notify(ACKNOWLEDGED, {"notifications": stream.honoured})
            self._changes.add(stream)
            stream.shown(request.exposure, self._notifications)
            await stream.over.wait()
        finally:
            self._open.discard(stream)
            self._changes.remove(stream)
            self._notifications.drop_interests(stream)

    def dismiss(self, who: str | None = None) -> None:
        """End the streams of a client, or all."""
        for stream in self._open:
            if who in {None, stream.who}:
                stream.over.set()


class _Stream:
    """One open stream (see `ChangeListener`)."""

    def __init__(self, request: Request) -> None:
        subscription = decoded(request.params.get("notifications", b"null"))
        if not is_object(subscription):
            raise RpcError(INVALID_PARAMS, "notifications must be an object")
        self.path = request.path
        self.who = request.client.who
        self.over = asyncio.Event()
        self.meta = {SUBSCRIPTION_ID: request.id}
        self.honoured = _honoured(subscription)
        self.uris = frozenset(texts_of(self.honoured.get(URIS)))
        self.watched: dict[UUID, dict[str, str]] = {}
        self._request = request

    def notify(self, method: str, params: dict[str, object]) -> None:
        self._request.notify(method, orjson.dumps({**params, META: self.meta}))

    def changed(self, kind: str) -> None:
        if f"{kind}ListChanged" in self.honoured:
            self.notify(f"notifications/{kind}/list_changed", {})

    def shown(self, exposure: Exposure, notifications: Notifications) -> None:
        """Watch what the servers have by now."""
        for uri in self.uris.difference(*(each.values() for each in self.watched.values())):
            if place := exposure.addresses.find(uri):
                watched = self.watched.setdefault(place.server, {})
                watched[place.own] = uri
                interest = NotificationInterest(uris=frozenset(watched))
                notifications.set_interest(self, place.server, interest)

    def updated(self, server: UUID, uri: str) -> None:
        if (exposed := exposed_part(uri, self.watched.get(server, {}))) is not None:
            self.notify(UPDATED, {"uri": exposed})

    def logged(self, message: bytes) -> None:
        """In this era log messages belong to requests."""


def _honoured(subscription: dict[str, object]) -> dict[str, object]:
    honoured: dict[str, object] = {
        key: True for kind in _KINDS if subscription.get(key := f"{kind}ListChanged") is True
    }
    uris = subscription.get(URIS)
    if is_array(uris) and uris:
        honoured[URIS] = texts_of(uris)[:_MOST_URIS]
    return honoured
