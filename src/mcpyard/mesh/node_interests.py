"""Which notifications of servers the callers of each node want."""

from typing import Final
from uuid import UUID

from mcpyard.domain.interests import combine_interests
from mcpyard.domain.ports import NotificationInterest, Servers
from mcpyard.mesh.messages import Interests

_NOTHING: Final = NotificationInterest()


class NodeInterests:
    """Has the servers of this node send what any node wants."""

    def __init__(self, name: str, local: Servers) -> None:
        self._name = name
        self._local = local
        self._of: dict[str, dict[UUID, NotificationInterest]] = {name: {}}
        self._tuned: dict[UUID, NotificationInterest] = {}

    @property
    def own(self) -> dict[UUID, NotificationInterest]:
        """What the callers of this node want."""
        return self._of[self._name]

    def is_wanted(self, node: str, server: UUID) -> bool:
        """Whether the callers of a node want anything of a server."""
        return self._of.get(node, {}).get(server, _NOTHING) != _NOTHING

    def set_own(self, server: UUID, interest: NotificationInterest) -> bool:
        """Take over what the callers of this node want; whether that is news."""
        news = interest != self.own.get(server, _NOTHING)
        self.own[server] = interest
        self.apply(server)
        return news

    def take(self, node: str, interests: Interests) -> None:
        """Take over what the callers of another node want."""
        before = self._of.get(node, {})
        self._of[node] = interests.of if interests.full else {**before, **interests.of}
        for server in interests.of.keys() | before.keys():
            self.apply(server)

    def drop(self, node: str) -> None:
        """Nobody there can be told anything."""
        for server in self._of.pop(node, {}):
            self.apply(server)

    def forget(self, server: UUID) -> None:
        """This node does not hold a server any more."""
        self._tuned.pop(server, None)

    def apply(self, server: UUID) -> None:
        """Tell a server of this node what is wanted of it, unless it knows."""
        combined = combine_interests(each.get(server, _NOTHING) for each in self._of.values())
        if server in self._local.held() and combined != self._tuned.get(server, _NOTHING):
            self._tuned[server] = combined
            self._local.tune(server, combined)
