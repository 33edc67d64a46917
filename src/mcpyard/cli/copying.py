"""`mcpyard copy` and `mcpyard undo`: what a change of other programs' files does, shown."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mcpyard.cli.complaints import Complaint, understand
from mcpyard.cli.output import clean
from mcpyard.cli.reaching import Record, folder_of, reach
from mcpyard.domain.errors import YardError


@dataclass(frozen=True, slots=True)
class Wish:
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


def copy_server(home: Path, project: Path | None, wish: Wish, *, as_json: bool) -> int:
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
    reached = reach(home, project, writes=True)
    return print_done(reached.copy(body, show_secrets=wish.show_secrets), as_json=as_json)


def undo_edit(
    home: Path, number: int | None, *, dry_run: bool, show_secrets: bool, as_json: bool
) -> int:
    """Undo an edit, and print what changed."""
    body: dict[str, object] = {"id": number, "dryRun": dry_run}
    try:
        done = reach(home, None, writes=True).undo(body, show_secrets=show_secrets)
    except (Complaint, YardError) as error:
        complaint = understand(error)
        if not as_json:
            _print_changes(complaint)
        raise complaint from None
    return print_done(done, as_json=as_json)


def _print_changes(complaint: Complaint) -> None:
    """Show what changed since an edit that therefore is not undone."""
    for file in cast("list[Record]", complaint.told.get("files", [])):
        print(clean(file["diff"]), end="", file=sys.stderr)


def print_done(done: Record, *, as_json: bool) -> int:
    """Print what was done, or would be."""
    if as_json:
        print(json.dumps(done))
        return 0
    for file in done["files"]:
        print(clean(file["diff"]), end="")
    if not done["files"]:
        print("nothing to change", file=sys.stderr)
    for warning in done["warnings"]:
        field = f"{warning['field']}: " if warning["field"] else ""
        print(clean(f"{warning['kind']}: {field}{warning['message']}"), file=sys.stderr)
    return 0
