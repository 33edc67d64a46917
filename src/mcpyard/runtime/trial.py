"""Opening a server only to look at it: nothing of it stays."""

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import NeedsAuth, Problem, ServerFault, StartFailed
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.observed import Observed
from mcpyard.runtime.server_api import NoRoom, Opener, OpenFailed
from mcpyard.runtime.session_runner import RuntimeDeps, tools_of
from mcpyard.runtime.stderr import StderrRing


class _IgnoredEvents:
    """Hooks of a session that nobody keeps."""

    def __init__(self, ring: StderrRing) -> None:
        self.ring = ring

    def lost(self, cause: Cause) -> None:
        """The next request to it fails and says why."""

    def on_list_changed(self, kind: str) -> None:
        """The tools are listed once only."""

    def on_notification(self, method: str, params: bytes) -> None:
        """Nobody listens."""

    def on_warning(self, problem: Problem) -> None:
        """It is ended soon."""


async def try_out(server: DesiredServer, deps: RuntimeDeps) -> Observed:
    """Open a server, list its tools, and end it again (see `Servers.trial`)."""
    opener: Opener = deps.opener
    try:
        live = await opener.open(server, _IgnoredEvents(StderrRing(deps.clock)))
    except OpenFailed as failure:
        raise _fault(failure.cause) from None
    except NoRoom:
        raise _fault(NoRoom.cause) from None
    try:
        tools = tools_of(await live.list_tools())
        return Observed(
            server.id, State(Phase.CONNECTED), session=live.facts, pid=live.pid, tools=tools
        )
    finally:
        await live.close()


def _fault(cause: Cause) -> ServerFault:
    kind = NeedsAuth if cause.code is Code.NEEDS_AUTH else StartFailed
    return kind(cause.message).because(cause)
