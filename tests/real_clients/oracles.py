"""What the real programs make of entries: used, switched off, refused, or fatal for the file.

Beside the entry stands one that is right, the witness: where the program does not have that one
either, it refused the file.
"""

import json
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

from mcpyard.formats.documents import editor_of
from mcpyard.formats.registry import client_of
from tests.real_clients.plans import ADDRESS, GEMINI, PLANS, RUN
from tests.real_clients.programs import STUB, Machine

ENABLED, DISABLED, ENTRY, FILE = "enabled", "disabled", "entry", "file"
WITNESS = "witness"
Entries = Mapping[str, object]
Answers = dict[str, str]

FILES = {
    "codex": ".codex/config.toml",
    "opencode": ".config/opencode/opencode.json",
    "claude": ".claude.json",
    "copilot": ".copilot/mcp-config.json",
    "gemini": ".gemini/settings.json",
}
_KEYS = {"codex": ("mcp_servers",), "opencode": ("mcp",), "opencode-2": ("mcp", "servers")}
_GROUP = 12
_TRIES = 2
_CACHE = Path(tempfile.gettempdir()) / "mcpyard-real-clients-cache"


def ask(which: str, entries: Entries) -> Answers:
    """The answer of a program about each of some entries."""
    return _ORACLES[which](which, entries)


def version(which: str) -> str:
    """The version that a program says it is."""
    program = which.partition("-")[0]
    with _machine() as machine:
        match = re.search(r"\d+\.\d+\.\d+", machine.run(program, "--version"))
    assert match, f"{program} says no version"
    return match.group()


def content(which: str, entries: Entries) -> str:
    """The file of a program with some entries, the witness first."""
    program, keys = which.partition("-")[0], _KEYS.get(which, ("mcpServers",))
    servers = {WITNESS: PLANS[which].local, **entries}
    if program != "codex":
        nested: object = servers
        for key in reversed(keys):
            nested = {key: nested}
        return json.dumps(nested)
    text = ""
    for name, entry in servers.items():
        if isinstance(entry, Mapping):
            text = editor_of(client_of(program)).put(text, (*keys, name), entry)
        else:
            text = f"mcp_servers.{name} = {json.dumps(entry)}\n{text}"
    return text


@contextmanager
def _machine() -> Generator[Machine]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        machine = Machine(Path(folder))
        machine.project.mkdir()
        machine.variables["XDG_CACHE_HOME"] = str(_CACHE)
        machine.put(".gemini/trustedFolders.json", {str(machine.project): "TRUST_FOLDER"})
        yield machine


def _output(which: str, entries: Entries, *arguments: str) -> str:
    program = which.partition("-")[0]
    with _machine() as machine:
        machine.put(FILES[program], content(which, entries))
        return machine.run(program, *arguments)


def _one_by_one(which: str, entries: Entries) -> Answers:
    """A program that tells of the first fault alone, but is quick."""
    answers: Answers = {}
    for name, entry in entries.items():
        output = _output(which, {name: entry}, "mcp", "list", "--json")
        listed = re.search(r"^\[", output, re.MULTILINE)
        states: dict[str, str] = {}
        if listed:
            servers, _ = json.JSONDecoder().raw_decode(output, listed.start())
            states = {each["name"]: ENABLED if each["enabled"] else DISABLED for each in servers}
        answers[name] = _answer(name, states)
    return answers


def _answer(name: str, states: Mapping[str, str]) -> str:
    return states.get(name, ENTRY) if WITNESS in states else FILE


def _opencode(which: str, entries: Entries) -> Answers:
    """A program that names every entry for which it refuses the file."""
    # A reference to a file is looked up first, and its fault names no entry.
    alone = {name: entry for name, entry in entries.items() if "{file:" in json.dumps(entry)}
    groups = [
        {name: entry for name, entry in entries.items() if name not in alone},
        *({name: entry} for name, entry in alone.items()),
    ]
    answers: Answers = {}
    for group in filter(None, groups):
        answers |= _opencode_group(which, group)
    return answers


def _opencode_group(which: str, entries: Entries) -> Answers:
    answers: Answers = {}
    left = dict(entries)
    while left:
        output = _output(which, left, "debug", "config")
        if "\n{" in f"\n{output}":
            start = f"\n{output}".index("\n{")
            config, _ = json.JSONDecoder().raw_decode(output, start)
            states = {name: _opencode_state(each) for name, each in config["mcp"].items()}
            return answers | {name: _answer(name, states) for name in left}
        fatal = {name for name in re.findall(r" mcp\.(\w+)", output) if name in left} or {*left}
        answers |= dict.fromkeys(fatal, FILE)
        left = {name: entry for name, entry in left.items() if name not in fatal}
    return answers


def _opencode_state(server: Mapping[str, Any]) -> str:
    if server.get("enabled") is False:
        return DISABLED
    return ENABLED if server.get("command") or "url" in server else ENTRY


def _listed(which: str, entries: Entries) -> Answers:
    """A program whose list leaves out what it refuses."""
    json_ = ("--json",) if which == "copilot" else ()
    output = _output(which, entries, "mcp", "list", *json_)
    if which == "claude":
        names = set(re.findall(r"^(\w+): .* - . ", output, re.MULTILINE))
    else:
        start = re.search(r"^\{", output, re.MULTILINE)
        config = json.JSONDecoder().raw_decode(output, start.start())[0] if start else {}
        names = set(cast("dict[str, Any]", config).get("mcpServers", {}))
    if WITNESS not in names and len(entries) > 1:
        return _halves(which, entries, _listed)
    return {name: _answer(name, dict.fromkeys(names, ENABLED)) for name in entries}


def _halves(which: str, entries: Entries, oracle: Callable[[str, Entries], Answers]) -> Answers:
    items = [*entries.items()]
    middle = len(items) // 2
    return oracle(which, dict(items[:middle])) | oracle(which, dict(items[middle:]))


def _gemini(_: str, entries: Entries) -> Answers:
    """A program that starts what it lists, and stumbles over some entries on the way."""
    answers: Answers = {}
    with _address() as address:
        for _attempt in range(_TRIES):
            # A server can be slow on a busy machine; one that is refused is so every time.
            items = [(name, entry) for name, entry in entries.items() if name not in answers]
            for start in range(0, len(items), _GROUP):
                group = _gemini_group(dict(items[start : start + _GROUP]), address)
                answers |= {name: answer for name, answer in group.items() if answer != ENTRY}
    return {name: answers.get(name, ENTRY) for name in entries}


def _gemini_group(entries: Entries, address: str) -> Answers:
    with _machine() as machine:
        run = machine.home / "run-it"
        machine.put(run, f"#!/bin/sh\nexec '{sys.executable}' '{STUB}' /dev/null\n")
        run.chmod(0o700)
        real = {RUN: str(run), ADDRESS: address}
        servers = {WITNESS: GEMINI.local, **entries}
        machine.put(FILES["gemini"], {"mcpServers": _real(servers, real)})
        output = machine.run("gemini", "mcp", "list")
    lines = re.findall(r"^. (\w+): .* \(\w+\) - (\w+)$", output, re.MULTILINE)
    states = {name: ENABLED if state == "Connected" else ENTRY for name, state in lines}
    unlisted = [name for name in entries if name not in states]
    if not unlisted or len(entries) == 1:
        return {name: _answer(name, states) for name in entries}
    if WITNESS not in states:
        return _halves("", entries, lambda _, part: _gemini_group(part, address))
    # It stopped at the first that is not listed; those behind it were not looked at.
    stumbled, *rest = unlisted
    answers = {name: state for name, state in states.items() if name in entries}
    answers[stumbled] = ENTRY
    if rest:
        answers |= _gemini_group({name: entries[name] for name in rest}, address)
    return answers


def _real(value: object, texts: Mapping[str, str]) -> Any:  # noqa: ANN401  JSON
    """Entries with a server that works in place of the texts that stand for one."""
    if isinstance(value, Mapping):
        return {key: _real(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [_real(each, texts) for each in cast("list[object]", value)]
    return texts.get(value, value) if isinstance(value, str) else value


class _Server(BaseHTTPRequestHandler):
    """An MCP server that can be called."""

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            self._send(202, b"")
            return
        result = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "serverInfo": {"name": "stub", "version": "1"},
        }
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply["result"] = result if message["method"] == "initialize" else {}
        self._send(200, json.dumps(reply).encode())

    def do_GET(self) -> None:
        self._send(405, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        # A program that has seen enough hangs up.
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name it has
        """Say nothing."""


@contextmanager
def _address() -> Generator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_ORACLES = {
    "codex": _one_by_one,
    "opencode": _opencode,
    "opencode-2": _opencode,
    "claude": _listed,
    "copilot": _listed,
    "gemini": _gemini,
}
