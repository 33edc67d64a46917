"""`mcpyard approve`, and the question of `up` about a project file in the current folder."""

import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import uvloop

from mcpyard.app import still_yard
from mcpyard.cli.confirmation import on_terminal, says_yes
from mcpyard.cli.known_servers import find_servers
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects
from mcpyard.client.discovery import RunningYard, ask_yard, segment
from mcpyard.sources.file_names import PROJECT_FILE
from mcpyard.yard.consent import folder_view, text_of

_MARKED: Final = "(may change which code runs)"


def approve(
    home: Path, folder: Path, replace: Sequence[str] = (), *, yes: bool = False, as_json: bool
) -> int:
    """Show what needs approval in a folder's file, and approve it; on a terminal it asks."""
    folder = folder.resolve()
    # A file that does not parse cannot be shown.
    find_servers(folder)
    waiting = ask_yard(
        home,
        lambda yard: _waiting(yard, folder),
        lambda: uvloop.run(_still_waiting(home, folder)),
    )
    if not as_json:
        _print_waiting(waiting)
        if waiting["servers"] and not yes and on_terminal() and not says_yes("Approve?"):
            print("not approved", file=sys.stderr)
            return 1
    body = {"folder": str(folder), "digest": waiting["digest"], "replace": [*replace]}
    approval = ask_yard(
        home,
        lambda yard: decode_object(yard.post("/api/projects/approve", body)),
        lambda: uvloop.run(_approve_still(home, folder, waiting["digest"], replace)),
    )
    if as_json:
        print(json.dumps(approval))
    else:
        _print_approval(folder, approval)
    return 0


def _waiting(yard: RunningYard, folder: Path) -> JsonObject:
    (waiting,) = decode_objects(yard.get(f"/api/projects/waiting?folder={segment(str(folder))}"))
    return waiting


async def _still_waiting(home: Path, folder: Path) -> JsonObject:
    async with still_yard(home, folder) as yard:
        return folder_view(await yard.approvals.waiting_in(folder)).to_dict()


async def _approve_still(
    home: Path, folder: Path, digest: str, replace: Sequence[str]
) -> JsonObject:
    async with still_yard(home, folder) as yard:
        return (await yard.approvals.approve(folder, digest, replace)).to_dict()


async def ask_to_approve(home: Path, folder: Path) -> None:
    """Ask the user at the terminal to approve the entries of a project file."""
    async with still_yard(home, folder) as yard:
        waiting = await yard.approvals.waiting_in(folder)
        if not waiting.entries:
            return
        print(f"{clean(str(folder / PROJECT_FILE))} defines these servers:", file=sys.stderr)
        _print_waiting(folder_view(waiting).to_dict())
        if says_yes("Approve and start them? Later changes need your approval again."):
            await yard.approvals.approve(folder, waiting.digest)
        else:
            print("Not started. Approve them later: mcpyard approve", file=sys.stderr)


def _print_waiting(waiting: JsonObject) -> None:
    for server in waiting["servers"]:
        for line in consent_lines(server):
            print(line, file=sys.stderr)


def consent_lines(server: JsonObject) -> Iterator[str]:
    """Everything that an entry runs and sends, in lines for a terminal."""
    replaced = server["replaces"]
    kind = f"replaces the server of that name in the {replaced}" if replaced else server["kind"]
    yield f"{_line(server['name'])} ({_line(kind)})"
    for each in server["fields"]:
        text = text_of(each["value"])
        mark = f"  {_MARKED}" if each["marked"] else ""
        yield f"  {_line(each['field']):20} {_line(text)}{mark}"
    for each in server["variables"]:
        recipient = each["host"] or "the process"
        yield f"  ${{{_line(each['name'])}}} is sent to {_line(recipient)} ({_line(each['field'])})"
    for each in server["changes"]:
        before, after = (_line(text_of(each[key])) or "nothing" for key in ("before", "after"))
        yield f"  changed: {_line(each['field'])}: {before} -> {after}"


def _line(text: str) -> str:
    """A text that stays on its line, whatever it holds."""
    return clean(text.replace("\n", "\\n").replace("\t", "\\t"))


def _print_approval(folder: Path, approval: JsonObject) -> None:
    where = clean(str(folder))
    servers = ", ".join(map(_line, approval["servers"]))
    print(f"approved {where}: {servers}" if servers else f"nothing to approve in {where}")
    for name in approval["waiting"]:
        command = f"mcpyard approve {shlex.quote(str(folder))} --replace {shlex.quote(name)}"
        note = f"note: {_line(name)} replaces another server; to allow that: {_line(command)}"
        print(note, file=sys.stderr)
    if not (folder / PROJECT_FILE).exists():
        print(f"note: that folder has no {PROJECT_FILE} yet", file=sys.stderr)
