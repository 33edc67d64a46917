"""`mcpyard connect` and `disconnect`: the gateway in the configuration of a client."""

import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpyard.cli.client_servers import folder_of
from mcpyard.cli.commands.copy import print_edit
from mcpyard.cli.printing import JsonObject, decode_object
from mcpyard.client.discovery import RunningYard, ask_yard, not_running
from mcpyard.domain.definition.this_yard import NAME
from mcpyard.store.home import usual_home

_PATH = "/api/clients/connect"
_DISCONNECT = "/api/clients/disconnect"


@dataclass(frozen=True, slots=True)
class ConnectRequest:
    """Which client to connect, and how."""

    client: str
    scope: str | None
    name: str
    profile: str | None
    http: bool
    dry_run: bool
    unverified: bool


def connect_client(
    home: Path, project: Path | None, request: ConnectRequest, *, as_json: bool
) -> int:
    """Add the gateway to a client, and print what changed."""
    command = bridge_command(home)
    edit = ask_yard(
        home,
        lambda yard: _ask_running(yard, request, command, folder_of(project)),
        lambda: _connect_directly(home, project, request, command),
    )
    print_edit(edit, as_json=as_json)
    if not as_json and (token := edit.get("token")):
        print(f"set this variable for {request.client}: {token['variable']}={token['value']}")
    return 0


@dataclass(frozen=True, slots=True)
class DisconnectRequest:
    """Which client to disconnect."""

    client: str
    scope: str | None
    dry_run: bool
    unverified: bool

    @property
    def words(self) -> tuple[str, str | None]:
        """The client, and its scope."""
        client, _, scope = self.client.partition(":")
        return client, self.scope or scope or None


def disconnect_client(
    home: Path, project: Path | None, request: DisconnectRequest, *, as_json: bool
) -> int:
    """Take the gateway out of a client's configuration, and print what changed."""
    client, scope = request.words
    body = {
        "client": client,
        "scope": scope,
        "dryRun": request.dry_run,
        "unverified": request.unverified,
        "project": folder_of(project),
    }
    edit = ask_yard(
        home,
        lambda yard: decode_object(
            yard.post(_DISCONNECT, {key: value for key, value in body.items() if value})
        ),
        lambda: _disconnect_directly(home, project, request),
    )
    print_edit(edit, as_json=as_json)
    return 0


def bridge_command(home: Path) -> list[str]:
    """The command of the bridge, as any program can start it."""
    folder = home.absolute()
    options = [] if folder == usual_home() else ["--home", str(folder)]
    return [*_program(), "stdio", *options]


def _program() -> list[str]:
    """Our own program; by name, unless only the PATH of a virtual environment has it."""
    ours = Path(sysconfig.get_path("scripts"))
    virtual = sys.prefix != sys.base_prefix
    folders = [Path(each) for each in os.get_exec_path() if each]
    usual = [str(each) for each in folders if not virtual or each.resolve() != ours.resolve()]
    if shutil.which(NAME, path=os.pathsep.join(usual)):
        return [NAME]
    path = shutil.which(NAME, path=str(ours))
    return [path] if path else [sys.executable, "-m", NAME]


def _ask_running(
    yard: RunningYard, request: ConnectRequest, command: list[str], project: str
) -> JsonObject:
    client, _, scope = request.client.partition(":")
    body = {
        "client": client,
        "scope": request.scope or scope,
        "name": request.name,
        "profile": request.profile,
        "http": request.http,
        "command": command,
        "dryRun": request.dry_run,
        "unverified": request.unverified,
        "project": project,
    }
    return decode_object(yard.post(_PATH, {key: value for key, value in body.items() if value}))


def _connect_directly(
    home: Path, project: Path | None, request: ConnectRequest, command: list[str]
) -> JsonObject:
    if request.http:
        # The address and the token are those of a running process.
        raise not_running(home)
    from mcpyard.app import still_yard
    from mcpyard.cli.private import run_privately
    from mcpyard.yard.clients.clients import EditTerms, words_of
    from mcpyard.yard.clients.connecting import Bridged
    from mcpyard.yard.views.clients import connect_view

    async def work() -> Any:  # noqa: ANN401  a record
        client, _, scope = request.client.partition(":")
        terms = EditTerms(
            folder_of(project), request.dry_run, who="cli", unverified=request.unverified
        )
        way = Bridged((*command, *(("--profile", request.profile) if request.profile else ())))
        async with still_yard(home, project) as yard:
            if request.profile:
                yard.profiles.get(request.profile)
            words = words_of(client, request.scope or scope)
            edit, _ = await yard.clients.connect(words, request.name, way, terms)
            return connect_view(edit, None).to_dict()

    return run_privately(work())


def _disconnect_directly(
    home: Path, project: Path | None, request: DisconnectRequest
) -> JsonObject:
    from mcpyard.app import still_yard
    from mcpyard.cli.private import run_privately
    from mcpyard.yard.clients.clients import EditTerms, words_of
    from mcpyard.yard.views.clients import change_view

    async def work() -> Any:  # noqa: ANN401  a record
        terms = EditTerms(
            folder_of(project), request.dry_run, who="cli", unverified=request.unverified
        )
        async with still_yard(home, project) as yard:
            edit = await yard.clients.disconnect(words_of(*request.words), terms)
            return change_view(edit).to_dict()

    return run_privately(work())
