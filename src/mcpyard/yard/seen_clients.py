"""Which clients the gateway met: only these are connected, whatever is written in their files."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mcpyard.domain.narrowing import object_of
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import SeenClients
from mcpyard.domain.stored import SeenClient

LONGEST: Final = 80
"""Characters of a name and a version that are kept."""


class VolatileSeenClients:
    """Seen clients for as long as the program runs (see the `SeenClients` port)."""

    def __init__(self) -> None:
        self._all: dict[str, SeenClient] = {}

    def all(self) -> Collection[SeenClient]:
        """Every one."""
        return self._all.values()

    def seen(self, client: SeenClient) -> None:
        """Note when a client was heard of last."""
        self._all[client.name] = client


class OpenSession(Struct, frozen=True):
    """A session of a client, and the seconds since it was used."""

    name: str
    version: str
    idle: float


class ClientSightings:
    """The clients that were seen at the gateway.

    Attributes:
        sessions: The sessions that are open now.
    """

    def __init__(self, repository: SeenClients, clock: Clock) -> None:
        self._repository = repository
        self._clock = clock
        self.sessions: Callable[[], Iterable[OpenSession]] = lambda: ()

    def note(self, name: str, version: str) -> None:
        """A client was heard of now; one without a name is not noted."""
        if name:
            self._repository.seen(SeenClient(name, version, self._clock.now()))

    def note_sessions(self) -> None:
        """Note when the clients with open sessions were heard of last."""
        for each in self.sessions():
            self.note_session(each)

    def all(self) -> list[tuple[SeenClient, int]]:
        """The clients, those that were heard of last first, each with its open sessions."""
        counts: dict[str, int] = {}
        for each in self.sessions():
            counts[each.name] = counts.get(each.name, 0) + 1
            self.note_session(each)
        clients = sorted(self._repository.all(), key=lambda each: each.at, reverse=True)
        return [(each, counts.get(each.name, 0)) for each in clients]

    def note_session(self, session: OpenSession) -> None:
        """Note when the client of a session was heard of last."""
        if session.name:
            at = self._clock.now() - timedelta(seconds=session.idle)
            self._repository.seen(SeenClient(session.name, session.version, at))


def introduced(client_info: object) -> tuple[str, str]:
    """The name and the version that a client gave itself; empty where it gave none."""
    members: Mapping[str, object] = object_of(client_info)
    return _printable(members.get("name")), _printable(members.get("version"))


def _printable(value: object) -> str:
    text = value if isinstance(value, str) else ""
    return "".join(each for each in text[:LONGEST] if each.isprintable()).strip()
