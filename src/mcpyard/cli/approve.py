"""`mcpyard approve`, and what `up` asks about a project's file that it merely found."""

import json
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import uvloop

from mcpyard.app import keeping
from mcpyard.cli.found import find_servers
from mcpyard.cli.output import clean
from mcpyard.cli.remote import RunningYard, ask_yard
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import YardError
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.domain.stored import TRUSTED, Approval
from mcpyard.sources.project_file import FILE_NAME

_STDIN = 0
_STDERR = 2


def approve(home: Path, folder: Path, *, as_json: bool) -> int:
    """Trust a folder: tell the running yard, or write it down for the next one."""
    folder = folder.resolve()
    # Nobody can have read what does not parse.
    find_servers(folder)
    waited = ask_yard(
        home, lambda yard: _tell(yard, folder), lambda: uvloop.run(_remember(home, folder))
    )
    if as_json:
        print(json.dumps({"folder": str(folder), "servers": waited}))
    else:
        starting = f"; starting {', '.join(map(clean, waited))}" if waited else ""
        print(f"approved {clean(str(folder))}{starting}")
        if not (folder / FILE_NAME).exists():
            print(f"note: there is no {FILE_NAME} there yet", file=sys.stderr)
    return 0


def find_project(home: Path, *, ask: bool) -> Path | None:
    """The current folder, where a project's file stands in it.

    On a terminal the user is asked about one that was not approved before. Without the user's yes
    its servers will wait.
    """
    folder = Path.cwd()
    if not (folder / FILE_NAME).exists():
        return None
    if ask and os.isatty(_STDIN) and os.isatty(_STDERR):
        uvloop.run(_ask(home, folder))
    return folder


def _tell(yard: RunningYard, folder: Path) -> list[str]:
    answered = json.loads(yard.post("/api/projects/approve", {"folder": str(folder)}))
    return cast("list[str]", answered["servers"])


async def _remember(home: Path, folder: Path) -> list[str]:
    async with keeping(home) as kept:
        await kept.approvals.set(Approval(str(folder), TRUSTED, datetime.now(UTC)))
    return []


async def _ask(home: Path, folder: Path) -> None:
    async with keeping(home) as kept:
        servers = _servers_of(folder)
        if not servers or str(folder) in kept.approvals.all():
            return
        print(f"{clean(str(folder / FILE_NAME))} was found here. It would run:", file=sys.stderr)
        for server in servers:
            print(f"  {clean(server.name)}: {clean(_launch(server))}", file=sys.stderr)
        print("Run it now, and what it says later? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().lower() in {"y", "yes"}:
            await kept.approvals.set(Approval(str(folder), TRUSTED, datetime.now(UTC)))
        else:
            print("Not run. `mcpyard approve` approves it later.", file=sys.stderr)


def _servers_of(folder: Path) -> list[DesiredServer]:
    try:
        found = find_servers(folder)
    except YardError:
        # The yard will show what is wrong with the file.
        return []
    return [each for each in found.servers.values() if each.owner.scope is Scope.PROJECT]


def _launch(server: DesiredServer) -> str:
    config = server.config
    return shlex.join(config.command) if isinstance(config, LocalConfig) else config.url
