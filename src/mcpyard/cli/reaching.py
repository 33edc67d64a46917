"""The servers of other programs, reached through the running yard, or directly where none runs."""

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlencode

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.remote import RunningYard, ask_yard, segment
from mcpyard.cli.status_words import is_up
from mcpyard.store.home import user_directory

if TYPE_CHECKING:
    from mcpyard.yard.clients.clients import Clients

Record = Mapping[str, Any]

_Answer = TypeVar("_Answer")


class ClientServers(Protocol):
    """The servers of other programs."""

    def get(self, what: str, project: str) -> list[Record]:
        """A list by its name: `groups`, `lint` or `drift`."""
        ...

    def show(self, client: str, scope: str, name: str, project: str) -> Record:
        """One server."""
        ...

    def copy(self, body: dict[str, object], *, show_secrets: bool) -> Record:
        """Copy a server."""
        ...

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> Record:
        """Undo an edit."""
        ...

    def edits(self) -> list[Record]:
        """The last edits, newest first."""
        ...

    def running(self, names: Collection[str]) -> list[Record]:
        """Those of some servers that run."""
        ...

    def import_all(self, body: dict[str, object]) -> list[Record]:
        """Take what is found into the yard."""
        ...


def reach(
    home: Path,
    project: Path | None,
    question: Callable[[ClientServers], _Answer],
    *,
    writes: bool = False,
) -> _Answer:
    """What the servers of other programs answer to a question.

    Args:
        home: The home, of a yard that runs or not.
        project: The folder that was named; its `.mcp.json` is the yard's own then.
        question: Asked of one way to them.
        writes: Whether something is to be kept in the home, which is made for it.
    """

    def directly() -> _Answer:
        return question(_Direct(home if writes or home.exists() else None, project))

    return ask_yard(home, lambda yard: question(_Remote(yard)), directly)


def folder_of(project: Path | None) -> str:
    """The folder to look from: the one that was named, else the current one."""
    folder = (project or Path.cwd()).resolve()
    # The user's own files are in that folder, and no project's.
    return "" if project is None and folder == user_directory() else str(folder)


class _Remote:
    """Asks a running yard."""

    def __init__(self, yard: RunningYard) -> None:
        self._yard = yard

    def get(self, what: str, project: str) -> list[Record]:
        path = "/api/clients" if what == "groups" else f"/api/clients/{what}"
        return json.loads(self._yard.get(f"{path}{_query(project=project)}"))

    def show(self, client: str, scope: str, name: str, project: str) -> Record:
        path = f"/api/clients/{segment(client)}/servers/{segment(name)}"
        return json.loads(self._yard.get(f"{path}{_query(scope=scope, project=project)}"))

    def copy(self, body: dict[str, object], *, show_secrets: bool) -> Record:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/copy", _said(body)))

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> Record:
        _refuse(show_secrets=show_secrets)
        return json.loads(self._yard.post("/api/clients/undo", _said(body)))

    def edits(self) -> list[Record]:
        return json.loads(self._yard.get("/api/clients/edits"))

    def running(self, names: Collection[str]) -> list[Record]:
        if not names:
            return []
        found = json.loads(self._yard.get("/api/mcp/servers?tools=0"))
        return [each for each in found if each["name"] in names and is_up(each)]

    def import_all(self, body: dict[str, object]) -> list[Record]:
        return json.loads(self._yard.post("/api/mcp/import", _said(body)))["servers"]


class _Direct:
    """Opens the home for as long as one question takes."""

    def __init__(self, home: Path | None, project: Path | None) -> None:
        self._home = home
        self._project = project

    def get(self, what: str, project: str) -> list[Record]:
        return self._ask(lambda clients: getattr(clients, what)(project))

    def show(self, client: str, scope: str, name: str, project: str) -> Record:
        from mcpyard.yard.clients.clients import words_of

        words = words_of(client, scope)
        return self._ask(lambda clients: clients.show(words, name, project))

    def copy(self, body: dict[str, object], *, show_secrets: bool) -> Record:
        from mcpyard.yard.clients.clients import Copy, EditTerms, matrix_of
        from mcpyard.yard.views.clients import change_view

        given: dict[str, Any] = body
        copy = Copy(
            given["from"],
            given["to"],
            given["name"],
            given["newName"],
            matrix_of(given["matrix"]),
            given["replace"],
            given["move"],
        )
        terms = EditTerms(given["project"], given["dryRun"], show_secrets, "cli")
        return change_view(self._ask(lambda clients: clients.copy(copy, terms))).to_dict()

    def undo(self, body: dict[str, object], *, show_secrets: bool) -> Record:
        from mcpyard.yard.clients.clients import EditTerms
        from mcpyard.yard.views.clients import change_view

        given: dict[str, Any] = body
        terms = EditTerms("", given["dryRun"], show_secrets, "cli")
        return change_view(self._ask(lambda clients: clients.undo(given["id"], terms))).to_dict()

    def edits(self) -> list[Record]:
        return self._ask(lambda clients: clients.edits())

    def running(self, names: Collection[str]) -> list[Record]:
        del names
        return []

    def import_all(self, body: dict[str, object]) -> list[Record]:
        from mcpyard.yard.clients.clients import EditTerms

        given: dict[str, Any] = body
        terms = EditTerms(given["project"], given["dryRun"], who="cli")
        return self._ask(lambda clients: clients.import_all(given["scope"], terms))

    def _ask(self, question: "Callable[[Clients], Awaitable[Any]]") -> Any:  # noqa: ANN401  what was asked for
        from mcpyard.app import still_yard
        from mcpyard.cli.private import run_privately
        from mcpyard.yard.views.base import plain

        async def work() -> Any:  # noqa: ANN401  what was asked for
            async with still_yard(self._home, self._project) as yard:
                return plain(await question(yard.clients))

        return run_privately(work())


def _said(body: dict[str, object]) -> dict[str, object]:
    """What a body says besides what goes without saying."""
    return {name: value for name, value in body.items() if value not in {None, ""}}


def _query(**members: str) -> str:
    said = {name: value for name, value in members.items() if value}
    return f"?{urlencode(said)}" if said else ""


def _refuse(*, show_secrets: bool) -> None:
    if show_secrets:
        raise usage("a running yard shows no secrets", "look into the file, or stop the yard first")
