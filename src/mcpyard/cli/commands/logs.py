"""`mcpyard logs`: what a server wrote to its standard error, and its log messages."""

import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject, decode_objects
from mcpyard.client.discovery import RunningYard, need_yard, server_path
from mcpyard.domain.edges import EXIT_UNREACHABLE
from mcpyard.domain.narrowing import object_of


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which lines are wanted; `tail` of them, or all."""

    source: str = "all"
    level: str = "debug"
    tail: int | None = None


def show_log(home: Path, name: str, query: LogQuery, *, follow: bool, as_json: bool) -> int:
    """Print the log of a server, or its last lines, and with follow every line to come."""
    yard = need_yard(home)
    path = f"{server_path(name, 'logs')}?source={query.source}&level={quote(query.level)}"
    if follow:
        _follow(yard, path, query.tail, as_json=as_json)
    lines = _read(yard, path)
    if query.tail is not None:
        lines = lines[max(0, len(lines) - query.tail) :]
    if as_json:
        print(json.dumps(lines))
        return 0
    for line in lines:
        _print_line(line, as_json=False)
    return 0


def _follow(yard: RunningYard, path: str, tail: int | None, *, as_json: bool) -> None:
    # The stream begins with the whole log.
    skipped = 0
    if tail is not None:
        lines = _read(yard, path)
        newest = lines[max(0, len(lines) - tail) :]
        skipped = _number(newest[0]) - 1 if newest else _number(lines[-1]) if lines else 0
    for line in map(object_of, yard.events(f"{path}&follow=1")):
        if _number(line) > skipped:
            _print_line(line, as_json=as_json)
    raise CliError("mcpyard has ended", slug="yard-ended", exit_code=EXIT_UNREACHABLE)


def _read(yard: RunningYard, path: str) -> list[JsonObject]:
    return decode_objects(yard.get(path))


def _number(line: JsonObject) -> int:
    return line["number"]


def _print_line(line: JsonObject, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(line), flush=True)
    else:
        level = f"[{line['level']}] " if line.get("level") else ""
        print(f"{line['at']} {level}{clean(str(line['text']))}", flush=True)
