"""The servers of other MCP clients, through the running mcpyard or directly."""

import json
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlencode

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.printing import JsonObject
from mcpyard.cli.status_words import is_up
from mcpyard.client.discovery import RunningYard, ask_yard, segment
from mcpyard.store.home import user_directory

if TYPE_CHECKING:
    from mcpyard.yard.clients.clients import Clients

_Answer = TypeVar("_Answer")


def reach(
    home: Path,
    project: Path | None,
    ask: "Callable[[ClientServers], _Answer]",
    *,
    writes: bool = False,
) -> _Answer:
    """The answer about the servers of other clients.

    Args:
        home: The home folder.
        project: The folder of `--project`; its `.mcp.json` belongs to mcpyard then.
        ask: Gets the answer.
        writes: Whether something is stored in the home, which is created for that.
    """

    def directly() -> _Answer:
        return ask(_Direct(home if writes or home.exists() else None, project))

    return ask_yard(home, lambda yard: ask(_Remote(yard)), directly)


def folder_of(project: Path | None) -> str:
    """The folder whose project files count: that of `--project`, else the current one."""
    folder = (project or Path.cwd()).resolve()
    # The user's own files are in that folder, not those of a project.
    return "" if project is None and folder == user_directory() else str(folder)


class _Remote:
    """Asks the running mcpyard."""

    def __init__(self, yard: RunningYard) -> None:
        self._yard = yard

    def get(self, what: str, project: str) -> list[JsonObject]:
        """A list by its name: `groups`, `lint` or `drift`."""
        path = "/api/clients" if what == "groups" else f"/api/clients/{what}"
        return json.loads(self._yard.get(f"{path}{_query(project=project)}"))

    def show(self, client: str, scope: str, name: str, project: str) -> JsonObject:
        path = f"/api/clients/{segment(client)}/servers/{segment(name)}"
        return json.loads(self._yard.get(f"{path}{_query(scope=scope, project=project)}"))

    def copy(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/copy", _without_defaults(body)))

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/undo", _without_defaults(body)))

    def edits(self) -> list[JsonObject]:
        return json.loads(self._yard.get("/api/clients/edits"))

    def running(self, names: Collection[str]) -> list[JsonObject]:
        """Those of some servers that run."""
        if not names:
            return []
        servers = json.loads(self._yard.get("/api/mcp/servers?tools=0"))
        return [each for each in servers if each["name"] in names and is_up(each)]

    def import_all(self, body: dict[str, object]) -> list[JsonObject]:
        return json.loads(self._yard.post("/api/mcp/import", _without_defaults(body)))["servers"]


class _Direct:
    """Opens the home for the duration of one request."""

    def __init__(self, home: Path | None, project: Path | None) -> None:
        self._home = home
        self._project = project

    def get(self, what: str, project: str) -> list[JsonObject]:
        return self._ask(lambda clients: getattr(clients, what)(project))

    def show(self, client: str, scope: str, name: str, project: str) -> JsonObject:
        from mcpyard.yard.clients.clients import words_of

        words = words_of(client, scope)
        return self._ask(lambda clients: clients.show(words, name, project))

    def copy(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        from mcpyard.yard.clients.clients import Copy, EditTerms, matrix_of
        from mcpyard.yard.views.clients import change_view

        members: dict[str, Any] = body
        copy = Copy(
            members["from"],
            members["to"],
            members["name"],
            members["newName"],
            matrix_of(members["matrix"]),
            members["replace"],
            members["move"],
        )
        terms = EditTerms(members["project"], members["dryRun"], show_secrets, "cli")
        return change_view(self._ask(lambda clients: clients.copy(copy, terms))).to_dict()

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        from mcpyard.yard.clients.clients import EditTerms
        from mcpyard.yard.views.clients import change_view

        members: dict[str, Any] = body
        terms = EditTerms("", members["dryRun"], show_secrets, "cli")
        return change_view(self._ask(lambda clients: clients.undo(members["id"], terms))).to_dict()

    def edits(self) -> list[JsonObject]:
        return self._ask(lambda clients: clients.edits())

    def running(self, names: Collection[str]) -> list[JsonObject]:
        del names
        return []

    def import_all(self, body: dict[str, object]) -> list[JsonObject]:
        from mcpyard.yard.clients.clients import EditTerms

        members: dict[str, Any] = body
        terms = EditTerms(members["project"], members["dryRun"], who="cli")
        return self._ask(lambda clients: clients.import_all(members["scope"], terms))

    def _ask(self, ask: "Callable[[Clients], Awaitable[Any]]") -> Any:  # noqa: ANN401  the answer
        from mcpyard.app import still_yard
        from mcpyard.cli.private import run_privately
        from mcpyard.yard.views.base import plain

        async def work() -> Any:  # noqa: ANN401  the answer
            async with still_yard(self._home, self._project) as yard:
                return plain(await ask(yard.clients))

        return run_privately(work())


ClientServers: TypeAlias = _Remote | _Direct
"""The servers of other MCP clients."""


def _without_defaults(body: dict[str, object]) -> dict[str, object]:
    """The members of a body that are not defaults."""
    return {name: value for name, value in body.items() if value not in {None, ""}}


def _query(**members: str) -> str:
    present = {name: value for name, value in members.items() if value}
    return f"?{urlencode(present)}" if present else ""


def _refuse(*, show_secrets: bool) -> None:
    if show_secrets:
        raise usage("--show-secrets works only while mcpyard is not running", "stop mcpyard first")
