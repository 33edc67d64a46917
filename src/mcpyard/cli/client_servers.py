"""The servers of other MCP clients, through the running mcpyard or directly."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from urllib.parse import urlencode

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.printing import JsonObject
from mcpyard.cli.status_words import is_up
from mcpyard.client.discovery import RunningYard, ask_yard, segment
from mcpyard.store.home import user_directory

if TYPE_CHECKING:
    from mcpyard.yard.clients.clients import EditTerms
    from mcpyard.yard.clients.reaching import ReachedClients

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class EntryRef:
    """An entry of a client's file to change, and how: the scope may be empty, for the first."""

    client: str
    scope: str
    name: str
    project: str
    dry_run: bool
    unverified: bool


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
        """A list by its name: `groups`, `lint`, `drift` or `seen`."""
        path = "/api/clients" if what == "groups" else f"/api/clients/{what}"
        return json.loads(self._yard.get(f"{path}{_query(project=project)}"))

    def show(self, client: str, scope: str, name: str, project: str) -> JsonObject:
        path = f"/api/clients/{segment(client)}/servers/{segment(name)}"
        return json.loads(self._yard.get(f"{path}{_query(scope=scope, project=project)}"))

    def copy(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/copy", _without_defaults(body)))

    def copy_many(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/copies", _without_defaults(body)))

    def change(
        self, entry: EntryRef, patch: Mapping[str, object] | None, *, show_secrets: bool
    ) -> JsonObject:
        """Change an entry by a merge patch; None removes it."""
        _refuse(show_secrets=show_secrets)
        query = _query(
            scope=entry.scope,
            project=entry.project,
            dryRun="1" if entry.dry_run else "",
            unverified="1" if entry.unverified else "",
        )
        path = f"/api/clients/{segment(entry.client)}/servers/{segment(entry.name)}{query}"
        return json.loads(
            self._yard.delete(path) if patch is None else self._yard.patch(path, patch, {})
        )

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/undo", _without_defaults(body)))

    def edits(self) -> list[JsonObject]:
        return json.loads(self._yard.get("/api/clients/edits"))

    def sync(self, what: str, body: dict[str, object]) -> JsonObject:
        """Plan, apply, adopt or approve a sync, or show what waits for approval."""
        members = _without_defaults(body)
        if what == "waiting":
            return json.loads(self._yard.get(f"/api/sync/waiting{_query(**_texts(members))}"))
        return json.loads(self._yard.post(f"/api/sync/{what}", members))

    def running(self, names: Collection[str]) -> list[JsonObject]:
        """Those of some servers that run."""
        if not names:
            return []
        servers = json.loads(self._yard.get("/api/mcp/servers?tools=0"))
        return [each for each in servers if each["name"] in names and is_up(each)]

    def import_all(self, body: dict[str, object]) -> JsonObject:
        return json.loads(self._yard.post("/api/mcp/import", _without_defaults(body)))


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
        terms = EditTerms(
            members["project"], members["dryRun"], show_secrets, "cli", members["unverified"]
        )
        return change_view(self._ask(lambda clients: clients.copy(copy, terms))).to_dict()

    def copy_many(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        from mcpyard.yard.clients.clients import EditTerms, matrix_of
        from mcpyard.yard.clients.copies import CopyMany, copy_many

        members: dict[str, Any] = body
        names = members["names"]
        many = CopyMany(
            members["from"],
            tuple(members["to"]),
            None if names is None else tuple(names),
            matrix_of(members["matrix"]),
            members["replace"],
            members["move"],
        )
        terms = EditTerms(
            members["project"], members["dryRun"], show_secrets, "cli", members["unverified"]
        )
        return self._ask(lambda clients: copy_many(clients, many, terms))

    def change(
        self, entry: EntryRef, patch: Mapping[str, object] | None, *, show_secrets: bool
    ) -> JsonObject:
        from mcpyard.yard.clients.clients import EditTerms, words_of
        from mcpyard.yard.views.clients import change_view

        words, name = words_of(entry.client, entry.scope), entry.name
        terms = EditTerms(entry.project, entry.dry_run, show_secrets, "cli", entry.unverified)
        done = self._ask(
            lambda clients: (
                clients.remove(words, name, terms)
                if patch is None
                else clients.edit(words, name, patch, terms)
            )
        )
        return change_view(done).to_dict()

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> JsonObject:
        from mcpyard.yard.clients.clients import EditTerms
        from mcpyard.yard.views.clients import change_view

        members: dict[str, Any] = body
        terms = EditTerms("", members["dryRun"], show_secrets, "cli")
        return change_view(self._ask(lambda clients: clients.undo(members["id"], terms))).to_dict()

    def edits(self) -> list[JsonObject]:
        return self._ask(lambda clients: clients.edits())

    def sync(self, what: str, body: dict[str, object]) -> JsonObject:
        from mcpyard.cli.sync_requests import ask_sync

        return self._ask(lambda clients: ask_sync(clients.sync, what, body))

    def running(self, names: Collection[str]) -> list[JsonObject]:
        del names
        return []

    def import_all(self, body: dict[str, object]) -> JsonObject:
        from mcpyard.yard.clients.clients import EditTerms

        members: dict[str, Any] = body
        terms = EditTerms(members["project"], members["dryRun"], who="cli")
        return self._ask(lambda clients: _imported(clients, members["scope"], terms))

    def _ask(self, ask: "Callable[[ReachedClients], Awaitable[Any]]") -> Any:  # noqa: ANN401  the answer
        from mcpyard.app import still_yard
        from mcpyard.cli.private import run_privately
        from mcpyard.yard.views.base import plain

        async def work() -> Any:  # noqa: ANN401  the answer
            async with still_yard(self._home, self._project) as yard:
                return plain(await ask(yard.clients))

        return run_privately(work())


ClientServers: TypeAlias = _Remote | _Direct
"""The servers of other MCP clients."""


async def _imported(clients: "ReachedClients", scope: str | None, terms: "EditTerms") -> JsonObject:
    from mcpyard.yard.views.base import plain

    servers, edit = await clients.import_machine(scope, terms)
    return {"servers": plain(servers), "edit": edit}


def _without_defaults(body: dict[str, object]) -> dict[str, object]:
    """The members of a body that are not defaults."""
    return {name: value for name, value in body.items() if value not in (None, "")}


def _texts(members: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in members.items()}


def _query(**members: str) -> str:
    present = {name: value for name, value in members.items() if value}
    return f"?{urlencode(present)}" if present else ""


def _refuse(*, show_secrets: bool) -> None:
    if show_secrets:
        raise usage("--show-secrets works only while mcpyard is not running", "stop mcpyard first")
