"""The servers that the yard itself keeps, as they are at one moment.

An operation is worked out beside the event loop, where the yard must not be asked anything: what it
desires by then may change under the eyes of whoever looks. A picture stays as it is.
"""

from collections.abc import Mapping
from typing import Final

from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.model import Config, Scope


class OwnPicture:
    """What the yard keeps, out of what it desires.

    Attributes:
        desired: What it is a picture of.
    """

    def __init__(self, desired: Desired) -> None:
        self.desired = desired
        self._in_force = {each.name: each for each in desired.servers.values()}
        self._servers: dict[Scope, Mapping[str, Config]] = {}

    def servers(self, scope: Scope) -> Mapping[str, Config]:
        """What each server of a scope is, by all that was said about it."""
        if scope not in self._servers:
            self._servers[scope] = self._hidden(scope) | {
                each.name: each.config for each in self.in_force(scope)
            }
        return self._servers[scope]

    def in_force(self, scope: Scope) -> list[DesiredServer]:
        """The servers of a scope that no other hides."""
        return [each for each in self._in_force.values() if each.owner.scope is scope]

    def winner(self, name: str) -> DesiredServer:
        """The server that counts of all that are defined by a name."""
        return self._in_force[name]

    def named(self, name: str) -> DesiredServer | None:
        """The server that has a name in force."""
        return self._in_force.get(name)

    def _hidden(self, scope: Scope) -> dict[str, Config]:
        waiting = [each.waiting for each in self._in_force.values() if each.waiting]
        # What waits to replace a server of another scope is in force nowhere, but it is there.
        return {
            each.definition.name: each.definition.config
            for each in (*self.desired.shadowed, *waiting)
            if each.owner.scope is scope
        }


NOTHING: Final = OwnPicture(Desired({}))
"""Of a yard that an operation has nothing to do with."""
