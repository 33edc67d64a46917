"""`mcpyard login`: a person signs in at a remote server, in a browser."""

import json
import os
import sys
import webbrowser
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from mcpyard.cli.cli_errors import Complaint
from mcpyard.cli.commands.ls import print_raw
from mcpyard.cli.output import clean
from mcpyard.cli.remote import RunningYard, need_yard, server_path
from mcpyard.cli.status_words import lamp, reason
from mcpyard.domain.errors import EXIT_TIMEOUT, EXIT_UNREACHABLE

_START: Final = 30

Record = Mapping[str, object]


def sign_in(home: Path, name: str, wait: float, *, browser: bool, as_json: bool) -> int:
    """Send a person to the sign-in page, and wait until the server is connected."""
    yard = need_yard(home)
    record = _running(yard, _look(yard, name))
    path = server_path(str(record["id"]))
    if record["status"] == "connected":
        return _tell(record, "needs no sign-in", as_json=as_json)
    answer = yard.post(f"{path}/login")
    url = str(json.loads(answer)["authorizationUrl"])
    _show(url, answer, browser=browser, as_json=as_json)
    if wait == 0:
        return 0
    return _tell(_outcome(yard, str(record["id"]), wait), "signed in", as_json=as_json)


def _look(yard: RunningYard, name: str) -> Record:
    return cast("Record", json.loads(yard.get(server_path(name))))


def _running(yard: RunningYard, record: Record) -> Record:
    """A server that is wanted; whoever signs in wants it, and a local one is refused later."""
    if record["wanted"] == "running" or record["type"] == "local":
        return record
    path = server_path(str(record["id"]), "start")
    return cast("Record", json.loads(yard.post(f"{path}?wait={_START}")))


def _show(url: str, answer: bytes, *, browser: bool, as_json: bool) -> None:
    if as_json:
        print_raw(answer)
        sys.stdout.flush()
        return
    print(f"sign in at: {clean(url)}", flush=True)
    if browser and _has_desktop():
        webbrowser.open(url)


def _has_desktop() -> bool:
    """Whether a browser would open in a window, not in this very terminal."""
    shown = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return sys.stdout.isatty() and (shown or sys.platform in {"darwin", "win32"})


def _outcome(yard: RunningYard, identity: str, wait: float) -> Record:
    """How the server is when it is connected, or has failed for another reason."""
    for event in yard.events("/api/events", wait):
        concerned = cast("Record", event).get("id", identity)
        if concerned == identity:
            record = _look(yard, identity)
            if record["phase"] in {"connected", "failed"}:
                return record
    raise Complaint(
        f"nobody signed in within {wait:g} seconds",
        hint="run it again for a new address, or give it more time with --wait",
        slug="timed-out",
        exit_code=EXIT_TIMEOUT,
    )


def _tell(record: Record, done: str, *, as_json: bool) -> int:
    connected = record["status"] == "connected"
    if as_json:
        print(json.dumps(record))
    elif connected:
        print(clean(f"{record['name']}: {done}, {lamp(record)}"))
    else:
        why, hint = reason(record)
        print(clean(f"{record['name']}: {lamp(record)}: {why}"))
        if hint:
            print(f"hint: {clean(hint)}")
    return 0 if connected else EXIT_UNREACHABLE
