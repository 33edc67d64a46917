"""The typed registry: which servers there are and how each of them is.

Synchronous and in-process, on the same model the supervisor uses. A stand-alone registry can be
written by anyone; one that a running yard manages takes its statuses from the supervisor alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.domain import checks
from mcpyard.domain.errors import (
    InputError,
    ManagedByYard,
    NameRefused,
    NameTaken,
    Problem,
    ServerUnknown,
)
from mcpyard.domain.model import LocalConfig, RemoteConfig
from mcpyard.domain.ports import StatusPort
from mcpyard.domain.spelling import read_definition
from mcpyard.domain.status import Status


@dataclass(frozen=True, slots=True)
class Info:
    """A server and how it is, at one moment."""

    name: str
    config: LocalConfig | RemoteConfig
    status: Status = Status.DISCONNECTED
    error: str | None = None
    tool_count: int = 0


class Registry:
    """Servers by name, in the order in which they were registered."""

    def __init__(self) -> None:
        self._infos: dict[str, Info] = {}
        self._managed = False

    def register(
        self, name: str, config: LocalConfig | RemoteConfig | Mapping[str, object]
    ) -> None:
        """Add a server in any spelling of its definition.

        Raises:
            NameTaken: A server of that name is registered already.
            NameRefused: The name cannot be used.
            DefinitionError: The definition cannot be used; names the field.
        """
        check_name(name)
        reading = read_definition(config)
        if name in self._infos:
            raise NameTaken(f'the name "{name}" is in use')
        self._infos[name] = Info(name, reading.config)

    def get(self, name: str) -> Info | None:
        """The server of that name, as it is now; None when there is none."""
        return self._infos.get(name)

    def list(self) -> list[Info]:
        """All servers, as they are now."""
        return [*self._infos.values()]

    def remove(self, name: str) -> None:
        """Take a server out; `ServerUnknown` when there is none."""
        self._known(name)
        del self._infos[name]

    def update_status(self, name: str, status: str, error: str | None = None) -> None:
        """Say how a server is; a text can stand beside `error` only.

        Raises:
            ManagedByYard: The registry belongs to a running yard, whose supervisor says it.
            ServerUnknown: No server of that name.
            InputError: No such status, or a text beside a status that is no error.
        """
        if self._managed:
            raise ManagedByYard("a running yard writes the statuses of this registry")
        self._write(name, _status(status), error)

    def reset(self) -> None:
        """Take all servers out."""
        self._infos.clear()

    def manage(self) -> StatusPort:
        """Take the statuses into a yard's hands; from now on only the returned port writes them."""
        self._managed = True
        return _ManagedPort(self)

    def _write(self, name: str, status: Status, error: str | None) -> None:
        if error is not None and status is not Status.ERROR:
            raise InputError.of(Problem("error", f"cannot stand beside the status {status}"))
        self._infos[name] = replace(self._known(name), status=status, error=error)

    def _count(self, name: str, count: int) -> None:
        self._infos[name] = replace(self._known(name), tool_count=count)

    def _known(self, name: str) -> Info:
        info = self._infos.get(name)
        if info is None:
            raise ServerUnknown(f'there is no server "{name[:80]}"')
        return info


class _ManagedPort:
    """The supervisor's way into a registry that is closed to everybody else."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def update_status(self, name: str, status: Status, error: str | None = None) -> None:
        self._registry._write(name, status, error)  # noqa: SLF001  the other half of one class

    def update_tool_count(self, name: str, count: int) -> None:
        self._registry._count(name, count)  # noqa: SLF001  the other half of one class


def check_name(name: str) -> None:
    """Refuse a name that no server can have."""
    if fault := checks.name_fault(name):
        raise NameRefused.of(Problem("name", fault))


def _status(word: str) -> Status:
    try:
        return Status(word)
    except ValueError:
        known = ", ".join(Status)
        raise InputError.of(Problem("status", f'"{word}" is not one of {known}')) from None


McpServer: Final = Registry()
"""A registry that is ready to use, for programs that need only one."""
