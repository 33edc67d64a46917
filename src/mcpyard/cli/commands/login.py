"""`mcpyard login` and `logout`: sign in to a remote server, in a browser, and out of it."""

import json
import sys
from pathlib import Path
from typing import Final

from mcpyard.cli.browser import open_browser
from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject, decode_object, print_raw
from mcpyard.cli.status_words import reason, status_word
from mcpyard.client.discovery import RunningYard, need_yard, server_path
from mcpyard.domain.edges import EXIT_TIMEOUT, EXIT_UNREACHABLE
from mcpyard.domain.narrowing import object_of

_START: Final = 30


def sign_in(home: Path, name: str, wait: float, *, browser: bool, as_json: bool) -> int:
    """Open the sign-in page, and wait until the server is connected."""
    yard = need_yard(home)
    record = _running(yard, _read_record(yard, name))
    path = server_path(str(record["id"]))
    if record["status"] == "connected":
        return _print_result(record, "no sign-in required", as_json=as_json)
    answer = yard.post(f"{path}/login")
    url = str(decode_object(answer)["authorizationUrl"])
    _print_address(url, answer, browser=browser, as_json=as_json)
    if wait == 0:
        return 0
    return _print_result(_outcome(yard, str(record["id"]), wait), "signed in", as_json=as_json)


def sign_out(home: Path, name: str, *, as_json: bool) -> int:
    """Delete the tokens of a server."""
    raw = need_yard(home).post(server_path(name, "logout"))
    if as_json:
        return print_raw(raw)
    print(clean(f"{decode_object(raw)['name']}: signed out"))
    return 0


def _read_record(yard: RunningYard, name: str) -> JsonObject:
    return decode_object(yard.get(server_path(name)))


def _running(yard: RunningYard, record: JsonObject) -> JsonObject:
    """The server, started if it is stopped; a local one is refused later."""
    if record["wanted"] == "running" or record["type"] == "local":
        return record
    path = server_path(str(record["id"]), "start")
    return decode_object(yard.post(f"{path}?wait={_START}"))


def _print_address(url: str, answer: bytes, *, browser: bool, as_json: bool) -> None:
    if as_json:
        print_raw(answer)
        sys.stdout.flush()
        return
    print(f"sign in at: {clean(url)}", flush=True)
    if browser and sys.stdout.isatty():
        open_browser(url)


def _outcome(yard: RunningYard, identity: str, wait: float) -> JsonObject:
    """The server's record once it is connected, or has failed for another reason."""
    for event in yard.events("/api/events", wait):
        if object_of(event).get("id", identity) == identity:
            record = _read_record(yard, identity)
            if record["phase"] in {"connected", "failed"}:
                return record
    raise CliError(
        f"sign-in not completed within {wait:g} seconds",
        hint="run the command again for a new address, or raise --wait",
        slug="timed-out",
        exit_code=EXIT_TIMEOUT,
    )


def _print_result(record: JsonObject, outcome: str, *, as_json: bool) -> int:
    connected = record["status"] == "connected"
    if as_json:
        print(json.dumps(record))
    elif connected:
        print(clean(f"{record['name']}: {outcome}, {status_word(record)}"))
    else:
        why, hint = reason(record)
        print(clean(f"{record['name']}: {status_word(record)}: {why}"))
        if hint:
            print(f"hint: {clean(hint)}")
    return 0 if connected else EXIT_UNREACHABLE
