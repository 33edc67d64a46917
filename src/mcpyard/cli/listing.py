"""`mcpyard ls` and `mcpyard show`: how servers are, or how they are defined."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.remote import RunningYard, find_yard, server_path
from mcpyard.cli.status_words import approval_note, lamp, last_words, log_command, reason
from mcpyard.domain.errors import EXIT_DEFINITION

if TYPE_CHECKING:
    from mcpyard.cli.known_servers import KnownServers

Record = Mapping[str, object]


def list_servers(home: Path, project: Path | None, *, as_json: bool) -> int:
    """Print every server."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        raw = yard.get("/api/mcp/servers?tools=0")
        if as_json:
            print_raw(raw)
        else:
            _print_servers(cast("list[Record]", json.loads(raw)))
        return _tell_problems(yard)
    from mcpyard.cli.known_servers import still_record

    found = find_still(home, project)
    records = [still_record(found.servers[name]) for name in sorted(found.servers)]
    if as_json:
        print(json.dumps(records))
        return 0
    return _print_servers(records)


def _tell_problems(yard: RunningYard) -> int:
    """Tell what is wrong with the definitions; the exit code for it."""
    problems = cast("list[Record]", json.loads(yard.get("/healthz"))["problems"])
    if problems:
        from mcpyard.cli.clients import print_problems

        print_problems(problems)
    # With one entry alone at fault, its field is named, and the others are as they should be.
    return EXIT_DEFINITION if any(not each["field"] for each in problems) else 0


def show_server(home: Path, project: Path | None, name: str, *, as_json: bool) -> int:
    """Print one server."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        raw = yard.get(server_path(name))
        if as_json:
            return print_raw(raw)
        return _print_server(json.loads(raw))
    from mcpyard.cli.known_servers import still_record

    shown = still_record(find_still(home, project).server(name))
    if as_json:
        print(json.dumps(shown))
        return 0
    return _print_server(shown)


def find_still(home: Path, project: Path | None) -> "KnownServers":
    """What is defined, with a word on standard error that nothing of it runs."""
    from mcpyard.cli.known_servers import find_known

    found = find_known(home, project)
    print(f"not running: no yard holds {home}", file=sys.stderr)
    for problem in found.problems:
        print(f"problem: {clean(str(problem))}", file=sys.stderr)
    return found


def note_unused(project: Path | None) -> None:
    """Say that the running yard answers, not the folder that was named."""
    if project:
        print("note: the running yard answers; --project is not used", file=sys.stderr)


def print_raw(raw: bytes) -> int:
    """Print JSON as the yard gave it."""
    sys.stdout.buffer.write(raw + b"\n")
    return 0


def print_warnings(record: Record) -> None:
    """Say on standard error what is odd about a server."""
    for each in cast("list[object]", record.get("warnings") or []):
        print(f"warning: {clean(str(each))}", file=sys.stderr)


def _print_servers(records: Sequence[Record]) -> int:
    if not records:
        print("no servers", file=sys.stderr)
        return 0
    rows = [
        (
            lamp(each),
            clean(str(each["name"])),
            str(each["transport"] or "remote"),
            str(each["toolCount"]),
            one_line(reason(each)[0] or approval_note(each)) or clean(_where(each)),
        )
        for each in records
    ]
    table(("STATUS", "NAME", "TRANSPORT", "TOOLS", "WHERE OR WHY"), rows)
    return 0


def _where(record: Record) -> str:
    if "url" in record:
        return str(record["url"])
    arguments = cast("list[str]", record.get("args") or [])
    return " ".join([str(record.get("command", "")), *arguments])


def _print_server(record: Record) -> int:
    why, hint = reason(record)
    lines = [("status", lamp(record)), ("reason", why), ("approval", approval_note(record))]
    lines += [("it said", line) for line in last_words(record)]
    lines += [("hint", hint), ("its log", log_command(record) if last_words(record) else "")]
    lines += [(key, _shown(record.get(key))) for key in _DETAILS]
    lines += [(key, _shown(record.get(key))) for key in POLICY if record.get(key) != POLICY[key]]
    tools = cast("list[Record]", record.get("tools") or [])
    print(clean(str(record["name"])))
    for key, text in lines:
        if text:
            print(f"  {key:16} {clean(text)}")
    for tool in tools:
        print(f"  tool {clean(str(tool['name']))}: {one_line(str(tool['description']))}")
    return 0


_DETAILS = (
    "title",
    "description",
    "id",
    "scope",
    "transport",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "headers",
    "oauth",
    "enabled",
    "timeout",
    "wanted",
    "pid",
    "since",
    "attempt",
    "nextRetryAt",
    "protocolVersion",
    "warnings",
    "toolCount",
)

POLICY: Final[Mapping[str, object]] = {
    "startTimeout": None,
    "progressExtends": False,
    "fallback": [],
    "inherit": [],
    "isolation": "shared",
    "wantedConcurrency": 0,
    "maxMessage": 16 * 1024 * 1024,
    "health": {"interval": 30000, "timeout": 5000, "failures": 3},
    "restart": {"attempts": 3, "limit": 10, "window": 3600000},
    "toolPolicies": {},
}
"""How a server is treated, where that is not as usual; so that nothing heavy is imported."""


def _shown(value: object) -> str:
    if value is None or value in ([], {}):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
