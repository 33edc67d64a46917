"""`mcpyard start`, `stop`, `restart` and `logs`: what only a running yard can do."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from mcpyard.cli.complaints import Complaint
from mcpyard.cli.listing import print_raw, print_warnings
from mcpyard.cli.output import clean
from mcpyard.cli.remote import need_yard, server_path
from mcpyard.cli.words import lamp, print_trouble, reason
from mcpyard.domain.errors import EXIT_UNREACHABLE

Record = Mapping[str, object]


def control(
    home: Path, step: Literal["start", "stop", "restart"], name: str, wait: float, *, as_json: bool
) -> int:
    """Ask for a server to be started, stopped or restarted, and print how it is then."""
    raw = need_yard(home).post(f"{server_path(name, step)}?wait={wait:g}")
    record = cast("Record", json.loads(raw))
    if as_json:
        print_raw(raw)
    else:
        why, _ = reason(record)
        print(clean(f"{record['name']}: {lamp(record)}{f': {why}' if why else ''}"))
        print_trouble(record)
        print_warnings(record)
    return EXIT_UNREACHABLE if record["status"] == "error" else 0


def show_log(home: Path, name: str, *, follow: bool, as_json: bool) -> int:
    """Print what a server wrote to its standard error."""
    yard = need_yard(home)
    path = server_path(name, "logs")
    if follow:
        for line in yard.events(f"{path}?follow=1"):
            _print_line(cast("Record", line), as_json=as_json)
        raise Complaint("the yard has ended", slug="yard-ended", exit_code=EXIT_UNREACHABLE)
    raw = yard.get(path)
    if as_json:
        return print_raw(raw)
    for line in cast("list[Record]", json.loads(raw)):
        _print_line(line, as_json=False)
    return 0


def _print_line(line: Record, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(line), flush=True)
    else:
        print(f"{line['at']} {clean(str(line['text']))}", flush=True)
