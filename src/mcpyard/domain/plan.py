"""From what is to what should be: the steps that are missing, and none that are not.

Level-triggered: the plan looks at the whole picture each time. Once its actions are carried out,
the same desired state gives an empty plan. Shutdown is the plan against an empty desired state.
"""

from collections.abc import Iterable, Mapping
from uuid import UUID

from msgspec import Struct

from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Observed


class StartServer(Struct, frozen=True):
    """Begin to run it."""

    id: UUID


class StopServer(Struct, frozen=True):
    """End it.

    Attributes:
        id: The server.
        moved: Whether it runs on another machine from now on: its calls in flight have the time
            that they themselves allow.
    """

    id: UUID
    moved: bool = False


class Replace(Struct, frozen=True):
    """Run it anew, with the definition as it is now."""

    id: UUID


class UpdateInterest(Struct, frozen=True):
    """Take over the desired state as it is now, leaving the server as it is."""

    id: UUID


class Forget(Struct, frozen=True):
    """Drop what is held of a server that is gone and at rest."""

    id: UUID


Action = StartServer | StopServer | Replace | UpdateInterest | Forget

_AT_REST = frozenset({Phase.STOPPED, Phase.STOPPING})


def plan(desired: Desired, observed: Mapping[UUID, Observed]) -> tuple[Action, ...]:
    """The actions that lead from what is observed to what is desired; endings come first."""
    ending = [
        action
        for each in observed.values()
        if each.id not in desired.servers and (action := _departure(each))
    ]
    arriving = (
        _action(server, observed.get(server.id) or Observed(server.id))
        for server in desired.servers.values()
    )
    return (*ending, *_stops_first(action for action in arriving if action))


def _stops_first(actions: Iterable[Action]) -> list[Action]:
    return sorted(actions, key=lambda action: not isinstance(action, StopServer))


def _departure(actual: Observed) -> Action | None:
    if actual.state.phase is Phase.STOPPED:
        return Forget(actual.id)
    return _ending(actual)


def _ending(actual: Observed) -> StopServer | None:
    at_rest = actual.state.phase in _AT_REST and not actual.state.restart
    return None if at_rest else StopServer(actual.id)


def _action(server: DesiredServer, actual: Observed) -> Action | None:
    return _move(server, actual) or (
        UpdateInterest(server.id) if _differs(server, actual) else None
    )


def _move(server: DesiredServer, actual: Observed) -> Action | None:
    if server.wanted is Wanted.STOPPED:
        return _ending(actual)
    if actual.state.phase is Phase.NEEDS_APPROVAL:
        return None if server.held else _approved(server)
    if actual.state.phase in _AT_REST:
        # Only a call starts one that runs on demand; one that is stopping to restart will come up.
        waits = server.wanted is Wanted.ON_DEMAND or actual.state.restart
        return None if waits else StartServer(server.id)
    anew = (server.launch_digest, server.turn) != (actual.launch_digest, actual.turn)
    return Replace(server.id) if server.held or anew else None


def _differs(server: DesiredServer, actual: Observed) -> bool:
    desired = (server.launch_digest, server.policy_digest, server.turn)
    return desired != (actual.launch_digest, actual.policy_digest, actual.turn)


def _approved(server: DesiredServer) -> Action:
    on_demand = server.wanted is Wanted.ON_DEMAND
    return StopServer(server.id) if on_demand else StartServer(server.id)
