"""`mcpyard logs`: what a server wrote to its standard error."""

import json
from pathlib import Path

from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject, decode_objects
from mcpyard.client.discovery import RunningYard, need_yard, server_path
from mcpyard.domain.errors import EXIT_UNREACHABLE
from mcpyard.domain.narrowing import object_of


def show_log(home: Path, name: str, *, follow: bool, tail: int | None, as_json: bool) -> int:
    """Print the log of a server, or its last lines, and with follow every line to come."""
    yard = need_yard(home)
    path = server_path(name, "logs")
    if follow:
        _follow(yard, path, tail, as_json=as_json)
    lines = _read(yard, path)
    if tail is not None:
        lines = lines[max(0, len(lines) - tail) :]
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
        skipped = _number(lines[-1]) - min(tail, len(lines)) if lines else 0
    for line in map(object_of, yard.events(f"{path}?follow=1")):
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
        print(f"{line['at']} {clean(str(line['text']))}", flush=True)
