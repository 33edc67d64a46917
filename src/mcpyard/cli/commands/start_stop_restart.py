"""`mcpyard start`, `stop`, `restart` and `logs`: what only a running yard can do."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, cast

from mcpyard.cli.cli_errors import Complaint, complain
from mcpyard.cli.commands.ls import print_raw, print_warnings
from mcpyard.cli.output import clean
from mcpyard.cli.remote import RunningYard, need_yard, server_path
from mcpyard.cli.status_words import lamp, print_trouble, reason
from mcpyard.domain.errors import EXIT_UNREACHABLE

Record = Mapping[str, object]
Step = Literal["start", "stop", "restart"]

_AT_ONCE: Final = 16


def control(home: Path, step: Step, names: Sequence[str], wait: float, *, as_json: bool) -> int:
    """Ask for servers to be started, stopped or restarted, and print how they are then."""
    yard = need_yard(home)
    paths = [f"{server_path(name, step)}?wait={wait:g}" for name in dict.fromkeys(names)]
    found = _ask_together(yard, paths) if len(paths) > 1 else [_read(yard.post(paths[0]))]
    if as_json:
        told = [each.record() if isinstance(each, Complaint) else each for each in found]
        print(json.dumps(told if len(told) > 1 else told[0]))
        return max(map(_code, found))
    return max(map(_print_state, found))


def _ask_together(yard: RunningYard, paths: Sequence[str]) -> list[Record | Complaint]:
    """What is answered to each; none waits for another, or suffers from its failing."""
    # Costs a good part of the time that one server alone takes.
    from concurrent.futures import ThreadPoolExecutor

    def ask(path: str) -> Record | Complaint:
        try:
            return _read(yard.post(path))
        except Complaint as complaint:
            return complaint

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, paths))


def _read(raw: bytes) -> Record:
    return cast("Record", json.loads(raw))


def _code(found: Record | Complaint) -> int:
    if isinstance(found, Complaint):
        return found.exit_code
    return EXIT_UNREACHABLE if found["status"] == "error" else 0


def _print_state(found: Record | Complaint) -> int:
    if isinstance(found, Complaint):
        return complain(found, as_json=False)
    why, _ = reason(found)
    print(clean(f"{found['name']}: {lamp(found)}{f': {why}' if why else ''}"))
    print_trouble(found)
    print_warnings(found)
    return _code(found)


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
