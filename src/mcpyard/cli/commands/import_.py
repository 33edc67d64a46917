"""`mcpyard import`: the servers of a file or a pasted text, registered but not started."""

import json
import shlex
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from mcpyard.cli.cli_errors import Complaint
from mcpyard.cli.client_servers import folder_of, reach
from mcpyard.cli.commands.clients import file_problems, print_problems
from mcpyard.cli.commands.ls import print_raw
from mcpyard.cli.definition_options import STDIN, read_text
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.remote import need_yard
from mcpyard.domain.errors import EXIT_DEFINITION

Record = Mapping[str, object]


def import_file(home: Path, place: str, scope: str | None, *, dry_run: bool, as_json: bool) -> int:
    """Register what a text holds, and print what became of each server."""
    body: dict[str, object] = {"text": read_text(place), "dryRun": dry_run}
    if scope:
        body["scope"] = scope
    with naming(place):
        raw = need_yard(home).post("/api/mcp/import", body)
    found = cast("Mapping[str, list[Record]]", json.loads(raw))
    if as_json:
        print_raw(raw)
    else:
        _print(found["servers"], found["problems"])
    return _exit_code(found["servers"], found["problems"])


@contextmanager
def naming(place: str) -> Generator[None]:
    """Let a complaint about a text name the file that it was read from."""
    try:
        yield
    except Complaint as complaint:
        if place == STDIN:
            raise
        from mcpyard.formats.pasting.snippets import PASTED

        said = str(complaint.told["detail"])
        complaint.told["detail"] = said.replace(f"{PASTED}:", f"{place}:")
        raise


@dataclass(frozen=True, slots=True)
class Machine:
    """What to import of this machine, and where to."""

    home: Path
    project: Path | None
    scope: str | None
    dry_run: bool


def import_machine(machine: Machine, *, as_json: bool) -> int:
    """Take every server that is found in other programs' files into the yard, and tell of each."""
    body: dict[str, object] = {
        "scope": machine.scope,
        "dryRun": machine.dry_run,
        "project": folder_of(machine.project),
    }
    folder = folder_of(machine.project)
    found, groups = reach(
        machine.home,
        machine.project,
        lambda it: (it.import_all(body), it.get("groups", folder)),
        writes=True,
    )
    problems = file_problems(groups)
    failed = problems or any(each["outcome"] == "refused" for each in found)
    if as_json:
        servers = [{"server": None, "problem": None, **each} for each in found]
        print(json.dumps({"dryRun": machine.dry_run, "servers": servers, "problems": problems}))
    else:
        _print_found(found)
        print_problems(problems)
    return EXIT_DEFINITION if failed else 0


def _print_found(found: Sequence[Record]) -> None:
    rows = [
        (
            str(each["outcome"]),
            clean(str(each["name"])),
            str(each["from"]),
            one_line(str(each["reason"])),
        )
        for each in found
    ]
    if rows:
        table(("OUTCOME", "NAME", "FROM", "WHY"), rows)
    else:
        print("no servers found", file=sys.stderr)
    _tell_more(found)


def _print(servers: list[Record], problems: list[Record]) -> None:
    rows = [
        (str(each["outcome"]), clean(str(each["name"])), one_line(_why(each))) for each in servers
    ]
    if rows:
        table(("OUTCOME", "NAME", "WHY"), rows)
    for each in problems:
        print(f"problem: {clean(': '.join(_words(each)))}", file=sys.stderr)
    _tell_more(servers)


def _tell_more(servers: Sequence[Record]) -> None:
    for each in servers:
        for warning in cast("list[object]", each["warnings"]):
            print(clean(f"warning: {each['name']}: {warning}"), file=sys.stderr)
    imported = [str(each["name"]) for each in servers if each["outcome"] == "imported"]
    if imported:
        names = clean(shlex.quote(imported[0])) if len(imported) == 1 else "NAME..."
        print(f"imported servers wait for: mcpyard start {names}", file=sys.stderr)


def _why(server: Record) -> str:
    problem = cast("Record | None", server["problem"])
    return str(problem["detail"]) if problem else ""


def _words(problem: Record) -> list[str]:
    return [str(problem[key]) for key in ("field", "message") if problem[key]]


def _exit_code(servers: list[Record], problems: list[Record]) -> int:
    """That of the gravest refusal: what could be imported is, the rest was told."""
    refused = [cast("Record", each["problem"]) for each in servers if each["problem"]]
    codes = [Complaint.of_problem(each).exit_code for each in refused]
    return max([*codes, *(EXIT_DEFINITION for _ in problems)], default=0)
