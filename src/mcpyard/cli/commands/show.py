"""`mcpyard show`: everything about one server."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mcpyard.cli.output import clean, one_line
from mcpyard.cli.printing import JsonObject, decode_object, note_unused, print_raw, read_definitions
from mcpyard.cli.status_words import approval_note, last_lines, log_command, reason, status_word
from mcpyard.client.discovery import find_yard, server_path
from mcpyard.domain.definition.sizes import size_text
from mcpyard.domain.narrowing import object_of, sequence_of

_DETAILS: Final = (
    "title",
    "description",
    "tags",
    "id",
    "scope",
    "node",
    "fence",
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
    "singleton": False,
    "labels": {},
    "wantedConcurrency": 0,
    "queue": 1024,
    "maxMessage": 16 * 1024 * 1024,
    "health": {"interval": 30000, "timeout": 5000, "failures": 3},
    "restart": {"attempts": 3, "limit": 10, "window": 3600000},
    "limits": {"memory": None, "processes": None},
    "recordCalls": True,
    "toolPolicies": {},
}
"""The defaults of a policy, which are not shown; a copy, since the model is slow to import."""


def show_server(home: Path, project: Path | None, name: str, *, as_json: bool) -> int:
    """Print one server."""
    yard = find_yard(home)
    if yard:
        note_unused(project)
        raw = yard.get(server_path(name))
        if as_json:
            return print_raw(raw)
        return _print_server(decode_object(raw))
    from mcpyard.cli.known_servers import still_record

    record = still_record(read_definitions(home, project).server(name))
    if as_json:
        print(json.dumps(record))
        return 0
    return _print_server(record)


def _print_server(record: JsonObject) -> int:
    why, hint = reason(record)
    log_lines = last_lines(record)
    rows = [("status", status_word(record)), ("reason", why), ("approval", approval_note(record))]
    rows += [("last log lines", line) for line in log_lines]
    rows += [("hint", hint), ("whole log", log_command(record) if log_lines else "")]
    rows += [(key, _text(record.get(key))) for key in _DETAILS]
    rows += [("resources", _usage(object_of(record.get("figures"))))]
    rows += [(key, _text(record.get(key))) for key in POLICY if record.get(key) != POLICY[key]]
    print(clean(str(record["name"])))
    for key, text in rows:
        if text:
            print(f"  {key:16} {clean(text)}")
    for tool in map(object_of, sequence_of(record.get("tools"))):
        print(f"  tool {clean(str(tool['name']))}: {one_line(str(tool['description']))}")
    return 0


def _usage(figures: JsonObject) -> str:
    """What its processes use."""
    if not figures:
        return ""
    memory, count = size_text(int(str(figures["rss"]))), figures["processes"]
    processes = "1 process" if count == 1 else f"{count} processes"
    return f"{memory} memory, {figures['cpuPercent']} % CPU, {processes}"


def _text(value: object) -> str:
    if value is None or value in ([], {}):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
