"""`mcpyard undo`: edits of clients' files and of mcpyard's own servers, taken back."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

from mcpyard.cli.cli_errors import EXIT_FAILED, CliError, understand
from mcpyard.cli.client_servers import ClientServers, reach
from mcpyard.cli.commands.copy import print_edit
from mcpyard.cli.commands.rm import removal_of
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject
from mcpyard.domain.errors import YardError
from mcpyard.domain.narrowing import object_of, sequence_of


@dataclass(frozen=True, slots=True)
class UndoRequest:
    """Which edit to undo, and how; None for the newest that is not undone."""

    number: int | None
    dry_run: bool
    show_secrets: bool
    yes: bool


def undo_edit(home: Path, request: UndoRequest, *, as_json: bool) -> int:
    """Undo an edit, and print what changed."""
    try:
        edit = reach(home, None, lambda servers: _undo(servers, request), writes=True)
    except (CliError, YardError) as error:
        cli_error = understand(error)
        if not as_json:
            _print_changes(cli_error)
        raise cli_error from None
    if edit is None:
        print("nothing undone", file=sys.stderr)
        return EXIT_FAILED
    return print_edit(edit, as_json=as_json)


def list_edits(home: Path, *, as_json: bool) -> int:
    """Print the last edits, newest first, with those that are undone."""
    edits = reach(home, None, lambda servers: servers.edits())
    if as_json:
        print(json.dumps(edits))
        return 0
    rows = [
        (
            str(each["id"]),
            str(each["at"]),
            str(each["kind"]) + (", undone" if each["undone"] else ""),
            clean(str(each["who"])),
            one_line(_places(each)),
        )
        for each in edits
    ]
    table(("ID", "WHEN", "WHAT", "BY", "WHERE"), rows, "no edits yet")
    return 0


def _undo(servers: ClientServers, request: UndoRequest) -> JsonObject | None:
    """The edit that undoes another; None when the user does not agree."""
    body: dict[str, object] = {"id": request.number, "dryRun": request.dry_run}
    if not (request.yes or request.dry_run):
        preview = servers.undo({**body, "dryRun": True}, show_secrets=request.show_secrets)
        running = servers.running(preview["removes"])
        if running and not confirm("; ".join(map(removal_of, running))):
            return None
        # Another edit could have become the newest during the question.
        body["id"] = preview["edit"]
    return servers.undo(body, show_secrets=request.show_secrets)


def _places(edit: JsonObject) -> str:
    """The files of an edit, and its servers where they are known."""
    names = ", ".join(edit["servers"])
    return ", ".join(edit["paths"]) + (f" ({names})" if names else "")


def _print_changes(cli_error: CliError) -> None:
    """Print what changed since an edit that therefore is not undone."""
    for file in map(object_of, sequence_of(cli_error.problem.get("files"))):
        print(clean(str(file["diff"])), end="", file=sys.stderr)
