"""The typed registry of servers and their statuses.

Synchronous and in-process, with the same model as the supervisor. A stand-alone registry is
writable; in the registry of a running `Yard`, only the supervisor sets statuses.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.continuation import is_continued
from mcpyard.domain.definition import checks
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import (
    InputError,
    ManagedByYard,
    NameRefused,
    NameTaken,
    Problem,
    ServerUnknown,
)
from mcpyard.domain.model import Config
from mcpyard.domain.status import Status

if TYPE_CHECKING:
    from uuid import UUID


class Info(Struct, frozen=True):
    """A server with its status, as an immutable snapshot."""

    name: str
    config: Config
    status: Status = Status.DISCONNECTED
    error: str | None = None
    tool_count: int = 0


class RegistryBook:
    """The servers and their statuses; a running `Yard` writes here."""

    def __init__(self) -> None:
        self.infos: dict[str, Info] = {}
        self._held: dict[str, DesiredServer] = {}
        self._names: dict[UUID, str] = {}

    def hold(self, servers: Iterable[DesiredServer]) -> None:
        """Hold exactly these servers; one that stays keeps its status, also by another name."""
        present = [*servers]
        before = [*self._held.values()]
        if is_continued(before, present):
            self._add(present[len(before) :])
        else:
            self._replace({each.name: each for each in present})

    def _add(self, servers: Iterable[DesiredServer]) -> None:
        for each in servers:
            self.infos[each.name] = self._following(each)
            self._names[each.id] = each.name
            self._held[each.name] = each

    def _replace(self, held: dict[str, DesiredServer]) -> None:
        changed = [each for name, each in held.items() if self._held.get(name) is not each]
        fresh = {each.name: self._following(each) for each in changed}
        self.infos = {name: fresh.get(name) or self.infos[name] for name in held}
        self._names |= {each.id: each.name for each in changed}
        if len(self._names) > len(held):
            self._names = {each.id: name for name, each in held.items()}
        self._held = held

    def _following(self, server: DesiredServer) -> Info:
        """What is known of a server, under its name and with its definition of now."""
        info = self.infos.get(self._names.get(server.id, ""))
        if info is None:
            return Info(server.name, server.config)
        return replace(info, name=server.name, config=server.config)

    def known(self, name: str) -> Info:
        """The server of that name."""
        info = self.infos.get(name)
        if info is None:
            raise ServerUnknown(f'there is no server "{name[:80]}"')
        return info

    def update_status(self, name: str, status: Status, error: str | None = None) -> None:
        """Set the status of a server."""
        if error is not None and status is not Status.ERROR:
            raise InputError.of(Problem("error", f"cannot be combined with the status {status}"))
        self.infos[name] = replace(self.known(name), status=status, error=error)

    def update_tool_count(self, name: str, count: int) -> None:
        """Set the number of tools."""
        self.infos[name] = replace(self.known(name), tool_count=count)


class Registry:
    """Servers by name, in order of registration."""

    def __init__(self) -> None:
        self._book = RegistryBook()
        self._managed = False

    def register(self, name: str, config: Config | Mapping[str, object]) -> None:
        """Add a server; the definition can have any accepted format.

        Raises:
            NameTaken: A server of that name is already registered.
            NameRefused: The name is invalid.
            DefinitionError: The definition is invalid; names the field.
        """
        self._refuse_if_managed()
        check_name(name)
        reading = read_definition(config)
        if name in self._book.infos:
            raise NameTaken(f'the name "{name}" is in use')
        self._book.infos[name] = Info(name, reading.config)

    def get(self, name: str) -> Info | None:
        """Return the server of that name, or None."""
        return self._book.infos.get(name)

    def list(self) -> list[Info]:
        """Return all servers."""
        return [*self._book.infos.values()]

    def remove(self, name: str) -> None:
        """Remove a server; raises `ServerUnknown` if there is none."""
        self._refuse_if_managed()
        self._book.known(name)
        del self._book.infos[name]

    def update_status(self, name: str, status: str, error: str | None = None) -> None:
        """Set the status of a server; only the status `error` can have an error message.

        Raises:
            ManagedByYard: The registry belongs to a running `Yard`.
            ServerUnknown: No server of that name.
            InputError: Unknown status, or a message with a status other than `error`.
        """
        self._refuse_if_managed()
        self._book.update_status(name, _status(status), error)

    def reset(self) -> None:
        """Remove all servers."""
        self._refuse_if_managed()
        self._book.infos.clear()

    def manage(self) -> "RegistryBook":
        """Hand the registry to a `Yard`; from now on only the returned port writes it."""
        self._managed = True
        return self._book

    def _refuse_if_managed(self) -> None:
        if self._managed:
            raise ManagedByYard("only the running mcpyard writes to this registry")


def check_name(name: str) -> None:
    """Refuse a name that no server can have."""
    if fault := checks.name_fault(name):
        raise NameRefused.of(Problem("name", fault))


def _status(word: str) -> Status:
    try:
        return Status(word)
    except ValueError:
        expected = ", ".join(Status)
        raise InputError.of(Problem("status", f'"{word}" is not one of {expected}')) from None


McpServer: Final = Registry()
"""A registry that is ready to use, for programs that need only one."""
