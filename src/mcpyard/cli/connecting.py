"""`mcpyard connect`: the gateway, written into the configuration of another program."""

import json
import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from mcpyard.cli.cli_errors import not_running
from mcpyard.cli.copying import print_done
from mcpyard.cli.reaching import Record, folder_of
from mcpyard.cli.remote import RunningYard, ask_yard
from mcpyard.domain.definition.this_yard import NAME
from mcpyard.store.home import usual_home

_PATH = "/api/clients/connect"


@dataclass(frozen=True, slots=True)
class Connect:
    """What to connect, as the options say it."""

    client: str
    scope: str | None
    name: str
    profile: str | None
    http: bool
    dry_run: bool


def connect_client(home: Path, project: Path | None, wish: Connect, *, as_json: bool) -> int:
    """Write the gateway down, and print what changed."""
    command = bridge_command(home)
    done = ask_yard(
        home,
        lambda yard: _through(yard, wish, command, folder_of(project)),
        lambda: _directly(home, project, wish, command),
    )
    print_done(done, as_json=as_json)
    if not as_json and (token := cast("dict[str, str] | None", done.get("token"))):
        print(f"set {token['variable']}={token['value']} where {wish.client} is started")
    return 0


def bridge_command(home: Path) -> list[str]:
    """The bridge as a program can start it, wherever that looks for commands."""
    there = home.absolute()
    return [*_program(), "stdio", *([] if there == usual_home() else ["--home", str(there)])]


def _program() -> list[str]:
    """Ourselves by name only where any program finds that: a virtual environment is ours alone."""
    ours = Path(sysconfig.get_path("scripts"))
    virtual = sys.prefix != sys.base_prefix
    folders = [Path(each) for each in os.get_exec_path() if each]
    usual = [str(each) for each in folders if not virtual or each.resolve() != ours.resolve()]
    if shutil.which(NAME, path=os.pathsep.join(usual)):
        return [NAME]
    found = shutil.which(NAME, path=str(ours))
    return [found] if found else [sys.executable, "-m", NAME]


def _through(yard: RunningYard, wish: Connect, command: list[str], project: str) -> Record:
    client, _, scope = wish.client.partition(":")
    body = {
        "client": client,
        "scope": wish.scope or scope,
        "name": wish.name,
        "profile": wish.profile,
        "http": wish.http,
        "command": command,
        "dryRun": wish.dry_run,
        "project": project,
    }
    return json.loads(yard.post(_PATH, {key: value for key, value in body.items() if value}))


def _directly(home: Path, project: Path | None, wish: Connect, command: list[str]) -> Record:
    if wish.http:
        # Only a yard that listens has an address, and only it makes tokens.
        raise not_running(home)
    from mcpyard.app import still_yard
    from mcpyard.cli.private import run_privately
    from mcpyard.yard.clients.clients import EditTerms, words_of
    from mcpyard.yard.clients.connecting import Bridged
    from mcpyard.yard.views.clients import connect_view

    async def work() -> Any:  # noqa: ANN401  a record
        client, _, scope = wish.client.partition(":")
        terms = EditTerms(folder_of(project), wish.dry_run, who="cli")
        way = Bridged((*command, *(("--profile", wish.profile) if wish.profile else ())))
        async with still_yard(home, project) as yard:
            if wish.profile:
                yard.profiles.get(wish.profile)
            words = words_of(client, wish.scope or scope)
            done, _ = await yard.clients.connect(words, wish.name, way, terms)
            return connect_view(done, None).to_dict()

    return run_privately(work())
