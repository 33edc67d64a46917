"""`mcpyard import`: the servers of a file, of a pasted text or of other clients."""

import json
import shlex
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import CliError, understand, usage
from mcpyard.cli.client_servers import folder_of, reach
from mcpyard.cli.commands.clients import file_problems, print_problems
from mcpyard.cli.commands.start_stop_restart import exit_code, print_answer, request
from mcpyard.cli.definition_options import STDIN, read_text
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject, decode_object
from mcpyard.client.discovery import need_yard
from mcpyard.domain.edges import EXIT_DEFINITION
from mcpyard.domain.errors import YardError

_START_WAIT: Final = 10
"""Seconds, as with `mcpyard start`."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Where to import to, and how."""

    home: Path
    project: Path | None
    scope: str | None
    dry_run: bool
    start: bool
    as_json: bool

    def check(self) -> None:
        """Refuse options that exclude each other, and a start where mcpyard is not running."""
        if self.start and self.dry_run:
            raise usage("--start and --dry-run exclude each other")
        if self.start:
            need_yard(self.home)


def import_file(place: str, options: ImportRequest) -> int:
    """Add the servers of a text, and print the outcome of each."""
    options.check()
    body: dict[str, object] = {"text": read_text(place), "dryRun": options.dry_run}
    if options.scope:
        body["scope"] = options.scope
    with naming(place):
        raw = need_yard(options.home).post("/api/mcp/import", body)
    report = decode_object(raw)
    servers, problems = report["servers"], report["problems"]
    if not options.as_json:
        _print(servers, problems)
    return _finish(options, report, servers, _exit_code(servers, problems))


@contextmanager
def naming(place: str) -> Generator[None]:
    """Let an error about a text name the file that it was read from."""
    try:
        yield
    except YardError as error:
        cli_error = understand(error)
        if place == STDIN:
            raise
        from mcpyard.formats.pasting.snippets import PASTED

        detail = str(cli_error.problem["detail"])
        cli_error.problem["detail"] = detail.replace(f"{PASTED}:", f"{place}:")
        raise cli_error from None


def import_machine(options: ImportRequest) -> int:
    """Add the servers of the other clients on this machine, and print the outcome of each."""
    options.check()
    folder = folder_of(options.project)
    body: dict[str, object] = {
        "scope": options.scope,
        "dryRun": options.dry_run,
        "project": folder,
    }
    imported, groups = reach(
        options.home,
        options.project,
        lambda servers: (servers.import_all(body), servers.get("groups", folder)),
        writes=True,
    )
    problems, entries = file_problems(groups), imported["servers"]
    failed = problems or any(each["outcome"] == "refused" for each in entries)
    servers = [{"server": None, "problem": None, **each} for each in entries]
    if not options.as_json:
        _print_entries(entries)
        print_problems(problems)
    report = {
        "dryRun": options.dry_run,
        "servers": servers,
        "problems": problems,
        "edit": imported["edit"],
    }
    return _finish(options, report, entries, EXIT_DEFINITION if failed else 0)


def _finish(
    options: ImportRequest, report: Mapping[str, object], servers: Sequence[JsonObject], code: int
) -> int:
    """Start what was imported, or say how to; the exit code of it all."""
    names = [str(each["name"]) for each in servers if each["outcome"] == "imported"]
    if not options.start or not names:
        if options.as_json:
            print(json.dumps(report))
        elif names:
            quoted = clean(shlex.quote(names[0])) if len(names) == 1 else "NAME..."
            print(
                f"imported servers are stopped; start them: mcpyard start {quoted}", file=sys.stderr
            )
        return code
    answers = request(need_yard(options.home), "start", names, _START_WAIT)
    if options.as_json:
        started = [each.record() if isinstance(each, CliError) else each for each in answers]
        print(json.dumps({**report, "started": started}))
        return max(code, *map(exit_code, answers))
    return max(code, *map(print_answer, answers))


def _print_entries(entries: Sequence[JsonObject]) -> None:
    rows = [
        (
            str(each["outcome"]),
            clean(str(each["name"])),
            str(each["from"]),
            one_line(str(each["reason"])),
        )
        for each in entries
    ]
    table(("OUTCOME", "NAME", "FROM", "REASON"), rows, "no servers found")
    _print_warnings(entries)


def _print(servers: list[JsonObject], problems: list[JsonObject]) -> None:
    rows = [
        (
            str(each["outcome"]),
            clean(str(each["name"])),
            one_line(str(each["problem"]["detail"])) if each["problem"] else "",
        )
        for each in servers
    ]
    if rows:
        table(("OUTCOME", "NAME", "REASON"), rows)
    for each in problems:
        parts = [str(each[key]) for key in ("field", "message") if each[key]]
        print(f"problem: {clean(': '.join(parts))}", file=sys.stderr)
    _print_warnings(servers)


def _print_warnings(servers: Sequence[JsonObject]) -> None:
    for each in servers:
        for warning in each["warnings"]:
            print(clean(f"warning: {each['name']}: {warning}"), file=sys.stderr)


def _exit_code(servers: list[JsonObject], problems: list[JsonObject]) -> int:
    """The highest code of what was refused; the rest is imported all the same."""
    refused = [each["problem"] for each in servers if each["problem"]]
    codes = [CliError.of_problem(each).exit_code for each in refused]
    return max([*codes, *(EXIT_DEFINITION for _ in problems)], default=0)
