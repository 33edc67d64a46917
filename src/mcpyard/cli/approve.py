"""`mcpyard approve`, and what `up` asks about a project's file that it merely found."""

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import uvloop

from mcpyard.app import still_yard
from mcpyard.cli.known_servers import find_servers
from mcpyard.cli.output import clean
from mcpyard.cli.remote import RunningYard, ask_yard, segment
from mcpyard.sources.project_file import FILE_NAME
from mcpyard.yard.consent import folder_view, text_of

Record = Mapping[str, Any]

_STDIN: Final = 0
_STDERR: Final = 2
_MARKED: Final = "(may change which code runs)"


def approve(
    home: Path, folder: Path, replace: Sequence[str] = (), *, yes: bool = False, as_json: bool
) -> int:
    """Show what waits in a folder's file, and approve it; on a terminal it is asked first."""
    folder = folder.resolve()
    # Nobody can have read what does not parse.
    find_servers(folder)
    waiting = ask_yard(
        home,
        lambda yard: _waiting(yard, folder),
        lambda: uvloop.run(_still_waiting(home, folder)),
    )
    if not as_json:
        _print_waiting(waiting)
        if waiting["servers"] and not yes and _on_terminal() and not _says_yes("Approve this?"):
            print("Not approved.", file=sys.stderr)
            return 1
    body = {"folder": str(folder), "digest": waiting["digest"], "replace": [*replace]}
    done = ask_yard(
        home,
        lambda yard: _read(yard.post("/api/projects/approve", body)),
        lambda: uvloop.run(_approve_still(home, folder, waiting["digest"], replace)),
    )
    if as_json:
        print(json.dumps(done))
    else:
        _print_done(folder, done)
    return 0


def find_project(home: Path, *, ask: bool) -> Path | None:
    """The current folder, where a project's file stands in it.

    On a terminal the user is asked about entries that are not approved. Without a yes they wait.
    """
    folder = Path.cwd()
    if not (folder / FILE_NAME).exists():
        return None
    if ask and _on_terminal():
        uvloop.run(_ask(home, folder))
    return folder


def _on_terminal() -> bool:
    return os.isatty(_STDIN) and os.isatty(_STDERR)


def _says_yes(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _waiting(yard: RunningYard, folder: Path) -> Record:
    (found,) = json.loads(yard.get(f"/api/projects/waiting?folder={segment(str(folder))}"))
    return found


def _read(raw: bytes) -> Record:
    return cast("Record", json.loads(raw))


async def _still_waiting(home: Path, folder: Path) -> Record:
    async with still_yard(home, folder) as yard:
        return folder_view(await yard.approvals.waiting_in(folder)).to_dict()


async def _approve_still(home: Path, folder: Path, digest: str, replace: Sequence[str]) -> Record:
    async with still_yard(home, folder) as yard:
        done = await yard.approvals.approve(folder, digest, replace)
    return {"folder": str(folder), "servers": done.servers, "waiting": done.waiting}


async def _ask(home: Path, folder: Path) -> None:
    async with still_yard(home, folder) as yard:
        waiting = await yard.approvals.waiting_in(folder)
        if not waiting.entries:
            return
        print(f"{clean(str(folder / FILE_NAME))} was found here. It would run:", file=sys.stderr)
        _print_waiting(folder_view(waiting).to_dict())
        if _says_yes("Run it? Later changes will need your approval again."):
            await yard.approvals.approve(folder, waiting.digest)
        else:
            print("Not run. `mcpyard approve` approves it later.", file=sys.stderr)


def _print_waiting(waiting: Record) -> None:
    for server in waiting["servers"]:
        for line in consent_lines(server):
            print(line, file=sys.stderr)


def consent_lines(server: Record) -> Iterator[str]:
    """Everything that an entry would run and send, in lines for a terminal."""
    replaces = f", replaces the server of the {server['replaces']}" if server["replaces"] else ""
    yield f"{_line(server['name'])} ({server['kind']}{_line(replaces)})"
    for each in server["fields"]:
        text = text_of(each["value"])
        mark = f"  {_MARKED}" if each["marked"] else ""
        yield f"  {_line(each['field']):20} {_line(text)}{mark}"
    for each in server["variables"]:
        goes_to = each["host"] or "the process"
        yield f"  ${{{_line(each['name'])}}} goes to {_line(goes_to)} ({_line(each['field'])})"
    for each in server["changes"]:
        before, after = (_line(text_of(each[key])) or "nothing" for key in ("before", "after"))
        yield f"  changed: {_line(each['field'])}: {before} -> {after}"


def _line(text: str) -> str:
    """A text that stays on its line, whatever it holds."""
    return clean(text.replace("\n", "\\n").replace("\t", "\\t"))


def _print_done(folder: Path, done: Record) -> None:
    where = clean(str(folder))
    servers = ", ".join(map(_line, done["servers"]))
    print(f"approved {where}: {servers}" if servers else f"nothing new is approved in {where}")
    for name in done["waiting"]:
        command = f"mcpyard approve {shlex.quote(str(folder))} --replace {shlex.quote(name)}"
        print(
            f"note: {_line(name)} would replace another server: {_line(command)}", file=sys.stderr
        )
    if not (folder / FILE_NAME).exists():
        print(f"note: there is no {FILE_NAME} there yet", file=sys.stderr)
