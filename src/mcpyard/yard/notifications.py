"""What servers send outside of any call, and what their clients want to receive of it."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

from mcpyard.domain.interests import LEVELS, combine_interests
from mcpyard.domain.ports import NotificationInterest, NotificationListener, Servers

_NOTHING: Final = NotificationInterest()


class Notifications:
    """Passes notifications on, and has servers send what somebody is interested in."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._interests: dict[UUID, dict[object, NotificationInterest]] = {}
        self._tuned: dict[UUID, NotificationInterest] = {}
        self._listeners: set[NotificationListener] = set()
        servers.set_listener(self)

    def listen(self, listener: NotificationListener) -> Callable[[], None]:
        """Send a listener all notifications, until the returned function is called."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def on_notification(self, server: UUID, method: str, params: bytes) -> None:
        """A server sent a notification (see `NotificationListener`)."""
        for listener in [*self._listeners]:
            listener.on_notification(server, method, params)

    def set_interest(self, key: object, server: UUID, interest: NotificationInterest) -> None:
        """What somebody wants to receive from a server, instead of what it wanted before."""
        interests = self._interests.setdefault(server, {})
        before = interests.pop(key, _NOTHING)
        if interest != _NOTHING:
            interests[key] = interest
        tuned = self._tuned.get(server, _NOTHING)
        # All are looked at only where this one can make a difference: a thousand clients may want
        # the same of a server that comes up.
        anew = before not in (_NOTHING, interest) or not _covers(tuned, interest)
        self._tune(server, self._combined(server) if anew else tuned)

    def interest(self, key: object, server: UUID) -> NotificationInterest:
        """What somebody wants to receive from a server."""
        return self._interests.get(server, {}).get(key, _NOTHING)

    def drop_interests(self, key: object) -> None:
        """Somebody wants to receive nothing any more."""
        for server, interests in self._interests.items():
            if interests.pop(key, None) is not None:
                self._tune(server, self._combined(server))

    def resend(self) -> None:
        """Tell the servers again what is wanted of them: one that was added anew was never told."""
        for server, tuning in self._tuned.items():
            self._servers.tune(server, tuning)

    def _combined(self, server: UUID) -> NotificationInterest:
        return combine_interests(self._interests[server].values())

    def _tune(self, server: UUID, tuning: NotificationInterest) -> None:
        if tuning == _NOTHING:
            self._tuned.pop(server, None)
        else:
            self._tuned[server] = tuning
        self._servers.tune(server, tuning)


def _covers(tuned: NotificationInterest, interest: NotificationInterest) -> bool:
    """Whether a server that is tuned so sends all that is wanted."""
    if interest.log_level is not None:
        levels = LEVELS[: LEVELS.index(interest.log_level) + 1]
        if tuned.log_level not in levels:
            return False
    return interest.uris <= tuned.uris
