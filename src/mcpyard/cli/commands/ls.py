"""`mcpyard ls`: the servers with their status, or with their definitions where none runs."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import (
    NO_SERVERS,
    JsonObject,
    decode_object,
    decode_objects,
    note_unused,
    print_raw,
    read_definitions,
)
from mcpyard.cli.status_words import approval_note, reason, status_word
from mcpyard.client.discovery import RunningYard, find_yard
from mcpyard.domain.edges import EXIT_DEFINITION
from mcpyard.domain.narrowing import sequence_of


def list_servers(home: Path, project: Path | None, *, as_json: bool) -> int:
    """Print every server."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        raw = yard.get("/api/mcp/servers?tools=0")
        if as_json:
            print_raw(raw)
        else:
            _print_servers(decode_objects(raw))
        return _print_definition_problems(yard)
    from mcpyard.cli.known_servers import still_record

    servers = read_definitions(home, project).servers
    records = [still_record(servers[name]) for name in sorted(servers)]
    if as_json:
        print(json.dumps(records))
    else:
        _print_servers(records)
    return 0


def _print_definition_problems(yard: RunningYard) -> int:
    """Print what is wrong with the definitions; the exit code for it."""
    problems = decode_object(yard.get("/healthz"))["problems"]
    if problems:
        from mcpyard.cli.commands.clients import print_problems

        print_problems(problems)
    # A problem with a field concerns one entry, and the others are in force.
    return EXIT_DEFINITION if any(not each["field"] for each in problems) else 0


def _print_servers(records: Sequence[JsonObject]) -> None:
    if not records:
        print(*NO_SERVERS, sep="\n", file=sys.stderr)
        return
    rows = [
        (
            status_word(each),
            clean(str(each["name"])),
            str(each["transport"] or "http"),
            str(each["toolCount"]),
            one_line(reason(each)[0] or approval_note(each)) or clean(_launch(each)),
        )
        for each in records
    ]
    table(("STATUS", "NAME", "TRANSPORT", "TOOLS", "COMMAND OR REASON"), rows)


def _launch(record: JsonObject) -> str:
    if "url" in record:
        return str(record["url"])
    arguments = map(str, sequence_of(record.get("args")))
    return " ".join([str(record.get("command", "")), *arguments])
