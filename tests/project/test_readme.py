"""The README as a newcomer follows it: every command and snippet is run as it stands.

The commands share one machine, whose home has the files of four programs. Its `mcpyard` listens on
a free port, since the usual one may be in use; nothing else differs from what a newcomer has. What
differs from run to run (paths, ports, pids, tokens) is compared as the README writes it.
"""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from mcpyard.formats.facts import Field
from mcpyard.formats.provenance import Evidence, Provenance
from mcpyard.formats.registry import CLIENTS
from mcpyard.gateway.protocol import MODERN_VERSION
from mcpyard.wire.handshake import VERSIONS
from tests.conftest import FULL

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TRANSLATIONS = ("README.zh-Hans.md", "README.zh-Hant.md")
PROGRAMS = Path(sys.executable).parent
TIMEOUT = 40.0
INSTALL_SECONDS = 900

FILES = {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]}
MACHINE = {
    ".claude.json": json.dumps({"mcpServers": {"files": FILES | {"env": {"LOG": "info"}}}}),
    ".codex/config.toml": 'model = "o5"\n\n[mcp_servers.docs]\nurl = "https://docs.example/mcp"\n',
    ".gemini/settings.json": json.dumps({"mcpServers": {"rules": {"command": "mcpyard-legal"}}}),
    ".config/opencode/opencode.json": json.dumps(
        {
            "mcp": {
                "files": {
                    "type": "local",
                    "command": [FILES["command"], *FILES["args"]],
                    "environment": {"LOG": "info"},
                }
            }
        }
    ),
}
SHIM = """#!/bin/sh
if [ "$1" = up ]; then shift; set -- up --port 0 "$@"; fi
exec "{program}" "$@"
"""


def blocks(page: Path, language: str = r"\w+") -> list[str]:
    return re.findall(rf"^```(?:{language})\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def steps(block: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block, each with the lines it shows."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *output = part.rstrip("\n").split("\n")
        yield command, output


def fits(pattern: list[str], text: str) -> bool:
    """Whether a text is what is shown; `...` stands for anything, and alone for any lines."""
    lines = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + "\n"
        for line in pattern
    ]
    actual = "".join(f"{line.rstrip()}\n" for line in text.splitlines())
    return re.fullmatch("".join(lines), actual) is not None


class Newcomer:
    """Somebody who types what the README says."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "me"
        for name, text in MACHINE.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        programs = folder / "bin"
        programs.mkdir()
        (programs / "mcpyard").write_text(SHIM.format(program=PROGRAMS / "mcpyard"))
        (programs / "mcpyard").chmod(0o755)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MCPYARD_", "XDG_"))}
        path = os.pathsep.join([str(programs), str(PROGRAMS), os.environ["PATH"]])
        self._around = clean | {"HOME": str(self.home), "PATH": path}
        self._up: subprocess.Popen[bytes] | None = None

    def types(self, command: str, output: list[str]) -> None:
        if command.startswith("mcpyard up"):
            text = self._leaves_running(command, len(output))
        else:
            ran = self._run(["bash", "-c", command])
            assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
            text = ran.stdout + ran.stderr
        actual = self._as_written(text)
        assert fits(output, actual), f"$ {command}\n{actual}"

    def runs(self, snippet: str) -> str:
        ran = self._run([sys.executable, "-c", snippet])
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def leaves(self) -> None:
        if self._up:
            self._up.send_signal(signal.SIGTERM)
            assert self._up.wait(TIMEOUT) == 0
            self._terminal.close()

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
            cwd=self.home,
            env=self._around,
        )

    def _leaves_running(self, command: str, lines: int) -> str:
        # On a terminal, as for whoever reads the README: only there does it show the sign-in link.
        ours, theirs = pty.openpty()
        self._up = subprocess.Popen(
            command.split(), stdin=theirs, stdout=theirs, cwd=self.home, env=self._around
        )
        os.close(theirs)
        self._terminal = os.fdopen(ours, newline="\n")
        return "".join(self._terminal.readline() for _ in range(lines))

    def _as_written(self, text: str) -> str:
        text = re.sub(r"\r|\x1b\[[0-9;]*[A-Za-z]", "", text)
        text = text.replace(str(self.home), "/home/me")
        text = re.sub(r"(127\.0\.0\.1):\d+", r"\1:8712", text)
        return re.sub(r"pid \d+", "pid 4711", text)


@pytest.fixture
def newcomer(tmp_path: Path) -> Generator[Newcomer]:
    somebody = Newcomer(tmp_path)
    yield somebody
    somebody.leaves()


@pytest.mark.real
@pytest.mark.timeout(300)
def test_every_command_shows_what_the_readme_says_and_every_snippet_runs(
    newcomer: Newcomer,
) -> None:
    text = README.read_text()
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language == "console":
            for command, output in steps(block):
                newcomer.types(command, output)
        elif language == "python":
            assert "tenancy-notice-en" in newcomer.runs(block)
    assert len(blocks(README, "console")) > 5


def test_what_differs_from_the_readme_is_noticed() -> None:
    assert fits(["a ... c", "...", "z"], "a b c\nd\ne\nz\n")
    assert not fits(["a", "b"], "a\n")
    assert not fits(["a"], "a\nb\n")


def test_the_two_commands_name_what_is_there() -> None:
    install, test = blocks(README, "sh")
    assert install == ("python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/mcpyard up\n")
    assert 'mcpyard = "mcpyard.__main__:run"' in (ROOT / "pyproject.toml").read_text()
    assert os.access(ROOT / test.strip(), os.X_OK)


@pytest.mark.skipif(not FULL, reason="installs everything anew; scripts/prove readme")
@pytest.mark.timeout(INSTALL_SECONDS)
def test_the_first_command_runs_a_yard_from_a_fresh_copy(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    leave = shutil.ignore_patterns(
        ".git", ".venv", "node_modules", "vendor", "__pycache__", ".*_cache"
    )
    shutil.copytree(ROOT, copy, ignore=leave)
    (command,) = blocks(README, "sh")[0].splitlines()
    around = os.environ | {"HOME": str(tmp_path), "MCPYARD_HOME": str(tmp_path / "home")}
    started = subprocess.Popen(
        ["bash", "-c", f"{command} --port 0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=copy,
        env=around,
        start_new_session=True,
    )
    with started as ran:
        assert ran.stdout
        try:
            assert any(re.match(r"mcpyard \S+ at http", line) for line in ran.stdout)
        finally:
            os.killpg(ran.pid, signal.SIGTERM)
            ran.wait(TIMEOUT)


@pytest.mark.parametrize("name", TRANSLATIONS)
def test_a_translation_has_the_commands_the_figures_and_the_links_of_the_english_one(
    name: str,
) -> None:
    translation = ROOT / name
    assert blocks(translation) == blocks(README)
    for pattern in (r"\]\((?!README|CHANGELOG)([^)]+)\)", r"^(#+) ", r"src(?:set)?=\"([^\"]+)\""):
        ours = re.findall(pattern, translation.read_text(), re.MULTILINE)
        assert ours == re.findall(pattern, README.read_text(), re.MULTILINE), pattern
    rows = [line.count("|") for line in README.read_text().splitlines() if line.startswith("|")]
    text = translation.read_text()
    assert [line.count("|") for line in text.splitlines() if line.startswith("|")] == rows
    digits = r"\d[\d,.]*\d|\d"
    english = re.sub(r"(?s)^# .*?\n## ", "", README.read_text())
    missing = set(re.findall(digits, english)) - set(re.findall(digits, text))
    assert not missing


CLAIMS = (
    (
        r"More than (\d+) times the calls per second of the official client",
        "mcpyard against the official client",
    ),
    (r"more than (\d+)\s+times those of mcp-hub", "against mcp-hub"),
    (r"(\d+) times those of mcp-proxy", "against mcp-proxy"),
    (r"takes less than (\d+) MB", "memory with 100 servers"),
    (r"in\s+flight fail within ([\d.]+) s", "100 calls in flight fail within"),
    (r"right after is answered within ([\d.]+) s", "a call right after is answered within"),
    (r"servers are gone within ([\d.]+) s", "100 gone after SIGKILL"),
)


@pytest.mark.parametrize(("claim", "name"), CLAIMS)
def test_a_figure_of_the_readme_is_no_better_than_what_was_measured(claim: str, name: str) -> None:
    match = re.search(claim, README.read_text())
    page = (ROOT / "docs" / "performance.md").read_text()
    row = re.search(rf"^\| {name} \| ([\d.]+)(x| MB| ms) \|", page, re.MULTILINE)
    assert match, claim
    assert row, name
    claimed, measured, unit = float(match[1]), float(row[1]), row[2]
    if unit == "x":
        assert measured >= claimed
    else:
        assert measured <= claimed * (1000 if unit == " ms" else 1)


def test_every_revision_of_the_protocol_is_named() -> None:
    compatibility = README.read_text().partition("\n## Compatibility\n")[2]
    for revision in (*VERSIONS, MODERN_VERSION):
        assert revision in compatibility


def _verified(provenance: Provenance) -> str:
    match provenance.evidence:
        case Evidence.RAN:
            return provenance.version
        case Evidence.SOURCE:
            return f"{provenance.version} (source)"
        case Evidence.FILES:
            return "files of users"
        case Evidence.DOCUMENTATION:
            return "documentation"


def test_the_table_of_programs_is_what_their_facts_say() -> None:
    text = README.read_text()
    for client in CLIENTS:
        if client.id == "yard":
            continue
        (row,) = re.findall(rf"^\| {client.title} \|.*$", text, re.MULTILINE)
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1] == ", ".join(scope.name for scope in client.scopes)
        reachable = Field.URL in client.shapes[0].field_names
        assert cells[5] == ("yes" if reachable else "no"), client.id
        words = [_verified(scope.provenance or client.provenance) for scope in client.scopes]
        assert cells[6] == ", ".join(dict.fromkeys(words))
        assert (cells[3] == "only in the program") == (client.scopes[0].switch.kind == "none")
