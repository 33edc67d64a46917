"""The five programs behind one interface: what each lists, and how each is made to start a server.

Each runs in a home of its own, with none of our variables, and reaches nobody: the ones that start
servers only for a conversation get a model that cannot be reached.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, cast

from mcpyard.formats.effective import Text, files_of, judge
from mcpyard.formats.entries import Entry
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates
from mcpyard.formats.registry import scope_ref_of

HERE = Path(__file__).parent
BIN = HERE / "node_modules" / ".bin"
PYTHON_BIN = HERE / ".venv" / "bin"
STUB = HERE / "stub.py"
NOBODY = "http://127.0.0.1:9/v1"
SECONDS = 60

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_CODEX_MODEL = (
    "model=m",
    "model_provider=nobody",
    "model_providers.nobody.name=nobody",
    f"model_providers.nobody.base_url={NOBODY}",
)
_QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "COPILOT_MODEL": "m",
    "COPILOT_OFFLINE": "true",
    "COPILOT_PROVIDER_BASE_URL": NOBODY,
    "DISABLE_AUTOUPDATER": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
}


class Seen(NamedTuple):
    """A server as a program lists it: what it runs or calls, and the program's word for it."""

    line: str
    state: str


@dataclass
class Machine:
    """A home and a project, with the files that we write there."""

    home: Path
    variables: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def host(self) -> ClientFolders:
        return ClientFolders(self.environment, str(self.home), str(self.project))

    @property
    def environment(self) -> dict[str, str]:
        base = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home)}
        return {**base, **_QUIET, **self.variables}

    def ref(self, words: str) -> ClientScopeRef:
        return scope_ref_of(words, str(self.project))

    def path(self, ref: ClientScopeRef) -> Path:
        assert ref.scope.location is not None
        return Path(candidates(ref.scope.location, self.host)[0])

    def put(self, path: Path | str, content: object) -> None:
        """Write a file; a path that is a text is relative to the home."""
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    def stub(self, log: Path, *arguments: str, env: Mapping[str, str]) -> Entry:
        """An entry that starts the stub."""
        return Entry(command=sys.executable, args=(str(STUB), str(log), *arguments), env=env)

    def judged(self, words: str) -> dict[str, str]:
        """What we make of a client's servers: the state of each that is not hidden."""
        states = self.states(words).items()
        return {key.partition(":")[2]: state for key, state in states if state != "shadowed"}

    def states(self, words: str) -> dict[str, str]:
        """The same for all of them, by scope and name."""
        client = scope_ref_of(words).client
        texts: dict[str, Text] = {}
        for path in files_of(client, self.host):
            content = Path(path).read_text() if Path(path).exists() else None
            texts[path] = Text(path, content)
        servers = judge(client, self.host, texts).statuses
        return {f"{each.ref.scope.name}:{each.listed.name}": each.state for each in servers}

    def run(self, program: str, *arguments: str) -> str:
        """What a program prints, on both streams."""
        done = subprocess.run(
            [BIN / program, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return _COLOURS.sub("", done.stdout)

    def started(self, program: str, log: Path) -> dict[str, Any]:
        """How a program starts the stub; `log` is a pipe, so that nobody waits in vain for it."""
        return self.started_by([str(BIN / program), *_STARTING[program]], log)

    def started_by(self, command: Sequence[str], log: Path) -> dict[str, Any]:
        """The same of a command, which is killed after that."""
        with subprocess.Popen(
            command,
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as running:
            try:
                with log.open() as lines:
                    return json.loads(lines.readline())
            finally:
                os.killpg(running.pid, signal.SIGKILL)

    def listed(self, program: str) -> dict[str, Seen]:
        """The servers that a program lists."""
        return _LISTING[program](self)


def _codex(machine: Machine) -> dict[str, Seen]:
    servers = cast("list[Any]", _json(machine.run("codex", "mcp", "list", "--json"), "["))
    return {
        each["name"]: Seen(_line(each["transport"]), "enabled" if each["enabled"] else "disabled")
        for each in servers
    }


def _copilot(machine: Machine) -> dict[str, Seen]:
    listed = machine.run("copilot", "mcp", "list", "--json")
    servers = cast("dict[str, Any]", _json(listed, "{"))["mcpServers"]
    return {
        name: Seen(_line(each), "enabled" if each["enabled"] else "disabled")
        for name, each in servers.items()
    }


def _opencode(machine: Machine) -> dict[str, Seen]:
    config = machine.run("opencode", "debug", "config")
    servers = cast("dict[str, Any]", _json(config, "{")).get("mcp", {})
    return {
        name: Seen(
            each.get("url") or " ".join(each["command"]),
            "enabled" if each.get("enabled", True) else "disabled",
        )
        for name, each in servers.items()
    }


def _lines(pattern: str, text: str) -> dict[str, Seen]:
    matches = re.finditer(pattern, text, re.MULTILINE)
    return {each["name"]: Seen(each["line"].strip(), each["state"].strip()) for each in matches}


def _claude(machine: Machine) -> dict[str, Seen]:
    text = machine.run("claude", "mcp", "list")
    return _lines(r"^(?P<name>[\w-]+): (?P<line>.*?)(?: \(\w+\))? - . (?P<state>[\w ]+)", text)


def _gemini(machine: Machine) -> dict[str, Seen]:
    text = machine.run("gemini", "mcp", "list")
    return _lines(r"^. (?P<name>[\w-]+): (?P<line>.*) \(\w+\) - (?P<state>\w+)$", text)


def _json(text: str, opening: str) -> object:
    """The JSON in what a program printed, after its warnings."""
    start = re.search(rf"^{re.escape(opening)}", text, re.MULTILINE)
    assert start, text
    value, _ = json.JSONDecoder().raw_decode(text, start.start())
    return value


def _line(entry: Mapping[str, Any]) -> str:
    return entry.get("url") or " ".join([entry["command"], *entry["args"]])


_LISTING = {
    "claude": _claude,
    "codex": _codex,
    "copilot": _copilot,
    "gemini": _gemini,
    "opencode": _opencode,
}
_STARTING = {
    "claude": ("mcp", "list"),
    "codex": ("exec", "--skip-git-repo-check", *(f"-c{each}" for each in _CODEX_MODEL), "hello"),
    "copilot": ("-p", "hello", "--allow-all-tools"),
    "gemini": ("mcp", "list"),
    "opencode": ("mcp", "list"),
}
PROGRAMS = tuple(_LISTING)
