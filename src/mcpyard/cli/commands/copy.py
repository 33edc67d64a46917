"""`mcpyard copy` and `mcpyard undo`: what a change of other programs' files does, shown."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from mcpyard.cli.cli_errors import EXIT_FAILED, Complaint, understand
from mcpyard.cli.client_servers import ClientServers, Record, folder_of, reach
from mcpyard.cli.commands.rm import agreed, outlook_of
from mcpyard.cli.output import clean, one_line, table
from mcpyard.domain.errors import YardError

_COSTS_NOTHING: Final = "info"


@dataclass(frozen=True, slots=True)
class CopyRequest:
    """What to copy, as the options say it."""

    source: str
    target: str
    name: str
    new_name: str | None
    matrix: str
    replace: bool
    move: bool
    dry_run: bool
    show_secrets: bool


def copy_server(home: Path, project: Path | None, wish: CopyRequest, *, as_json: bool) -> int:
    """Copy a server, and print what changed."""
    body: dict[str, object] = {
        "from": wish.source,
        "to": wish.target,
        "name": wish.name,
        "newName": wish.new_name,
        "matrix": wish.matrix,
        "replace": wish.replace,
        "move": wish.move,
        "dryRun": wish.dry_run,
        "project": folder_of(project),
    }
    show = wish.show_secrets
    done = reach(home, project, lambda it: it.copy(body, show_secrets=show), writes=True)
    return print_done(done, as_json=as_json, everything=wish.matrix == "spec")


@dataclass(frozen=True, slots=True)
class Undoing:
    """What to undo, as the options say it; None for the newest edit that is not undone."""

    number: int | None
    dry_run: bool
    show_secrets: bool
    sure: bool


def undo_edit(home: Path, wish: Undoing, *, as_json: bool) -> int:
    """Undo an edit, and print what changed."""
    try:
        done = reach(home, None, lambda it: _undone(it, wish), writes=True)
    except (Complaint, YardError) as error:
        complaint = understand(error)
        if not as_json:
            _print_changes(complaint)
        raise complaint from None
    if done is None:
        print("nothing was undone", file=sys.stderr)
        return EXIT_FAILED
    return print_done(done, as_json=as_json)


def list_edits(home: Path, *, as_json: bool) -> int:
    """Print the edits that can be undone, or were, newest first."""
    found = reach(home, None, lambda it: it.edits())
    if as_json:
        print(json.dumps(found))
        return 0
    rows = [
        (
            str(each["id"]),
            str(each["at"]),
            str(each["kind"]) + (", undone" if each["undone"] else ""),
            clean(str(each["who"])),
            one_line(_concerned(each)),
        )
        for each in found
    ]
    if rows:
        table(("ID", "WHEN", "WHAT", "BY", "WHERE"), rows)
    else:
        print("no edits", file=sys.stderr)
    return 0


def _undone(it: ClientServers, wish: Undoing) -> Record | None:
    """What an undo did, or would do; None when the user had rather not."""
    body: dict[str, object] = {"id": wish.number, "dryRun": wish.dry_run}
    if not (wish.sure or wish.dry_run):
        look = it.undo({**body, "dryRun": True}, show_secrets=wish.show_secrets)
        running = it.running(look["removes"])
        if running and not agreed("; ".join(map(outlook_of, running))):
            return None
        # Another edit could have become the newest while a person thought about this one.
        body["id"] = look["edit"]
    return it.undo(body, show_secrets=wish.show_secrets)


def _concerned(edit: Record) -> str:
    """The files of an edit, and the servers that it is about where that is known."""
    names = ", ".join(edit["servers"])
    return ", ".join(edit["paths"]) + (f" ({names})" if names else "")


def _print_changes(complaint: Complaint) -> None:
    """Show what changed since an edit that therefore is not undone."""
    for file in cast("list[Record]", complaint.told.get("files", [])):
        print(clean(file["diff"]), end="", file=sys.stderr)


def print_done(done: Record, *, as_json: bool, everything: bool = False) -> int:
    """Print what was done, or would be; with everything, also that which costs nothing."""
    if as_json:
        print(json.dumps(done))
        return 0
    for file in done["files"]:
        print(clean(file["diff"]), end="")
    if not done["files"]:
        print("nothing to change", file=sys.stderr)
    told = [each for each in done["warnings"] if everything or each["kind"] != _COSTS_NOTHING]
    for warning in told:
        field = f"{warning['field']}: " if warning["field"] else ""
        print(clean(f"{warning['kind']}: {field}{warning['message']}"), file=sys.stderr)
    return 0
