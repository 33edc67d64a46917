"""What the events of a yard tell."""

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Final
from uuid import UUID

from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.observed import Observed
from mcpyard.domain.status import public_words
from mcpyard.yard.views.base import moment
from mcpyard.yard.views.servers import attempt_of, cause_view, waiting_kind

_WAITING: Final = attrgetter("waiting")


def status_event(server: DesiredServer, observed: Observed) -> dict[str, object]:
    """What a status event tells: how a server is, without what it is."""
    state, words = observed.state, public_words(observed.state)
    cause = cause_view(state.cause)
    return {
        "id": str(server.id),
        "name": server.name,
        "toolCount": len(observed.tools.definitions),
        "status": str(words.status),
        "state": str(words.state),
        "phase": str(state.phase),
        "error": cause.to_dict() if cause else None,
        "attempt": attempt_of(observed),
        "maxAttempts": server.config.restart.attempts,
        "nextRetryAt": moment(observed.next_retry_at),
        "pid": observed.pid,
    }


def documents_event(desired: Desired) -> dict[str, object]:
    """What a documents event tells: how many servers there are, what is wrong, and what waits."""
    servers = desired.servers.values()
    return {
        "servers": len(servers),
        "problems": [str(problem) for problem in desired.problems],
        "waiting": {each.name: waiting_kind(each.waiting) for each in filter(_WAITING, servers)},
    }


def state_events(
    desired: Desired, observed: Callable[[UUID], Observed]
) -> Iterator[tuple[str, dict[str, object]]]:
    """What events would tell of the present state, for a reader that missed some."""
    yield "documents", documents_event(desired)
    for server in desired.servers.values():
        yield "status", status_event(server, observed(server.id))
