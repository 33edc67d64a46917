"""Servers that nobody runs: for a yard that only edits, while none is up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from uuid import UUID

from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.errors import Disconnected
from mcpyard.domain.observed import Figures, Observed
from mcpyard.domain.plan import Action
from mcpyard.domain.ports import CallTerms, LogLine, NotificationInterest, NotificationListener
from mcpyard.domain.started_calls import CallWaiter, StartedCall


class IdleServers:
    """Holds nothing and starts nothing (see the `Servers` port)."""

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Nothing ever changes."""

    def observed(self) -> Mapping[UUID, Observed]:
        """Nothing."""
        return {}

    def share(self, desired: Desired) -> Desired:
        """All of the desired state: there is one machine."""
        return desired

    def held(self) -> Mapping[UUID, Observed]:
        """The same as `observed`: there is one machine."""
        return {}

    def apply(self, actions: Iterable[Action], desired: Mapping[UUID, DesiredServer]) -> None:
        """Leave every server as it is."""

    async def call(self, server: UUID, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        """Refuse: nothing runs."""
        del server, arguments, terms
        raise Disconnected(f"{tool} cannot be called: no servers are running")

    def start(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> StartedCall | None:
        """Leave it to `call` to refuse."""
        del server, tool, arguments, terms, waiter

    async def request(self, server: UUID, method: str, params: bytes, terms: CallTerms) -> bytes:
        """Refuse: nothing runs."""
        del server, params, terms
        raise Disconnected(f"{method} cannot be requested: no servers are running")

    def probe(self, server: UUID) -> None:
        """Nothing is away."""

    def set_listener(self, listener: NotificationListener) -> None:
        """No server sends notifications."""

    def tune(self, server: UUID, interest: NotificationInterest) -> None:
        """No server sends notifications."""

    def release(self, client_key: str) -> None:
        """There is nothing to end."""

    async def trial(self, server: DesiredServer) -> Observed:
        """Refuse: nothing runs."""
        raise Disconnected(f"{server.name} cannot be tested: no servers are running")

    def log(self, server: UUID) -> Sequence[LogLine]:
        """Nothing was said."""
        del server
        return ()

    async def fetch_log(self, server: UUID) -> Sequence[LogLine]:
        """The same as `log`: there is one machine."""
        return self.log(server)

    def figures(self, server: UUID) -> Figures | None:
        """Nothing is used."""
        del server
        return None

    async def close(self) -> None:
        """There is nothing to end."""
