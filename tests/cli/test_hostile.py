"""Every command in surroundings that are broken: words and an exit code, never a traceback."""

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_group

from mcpyard.cli.launcher import run
from mcpyard.cli.main import app
from mcpyard.store.home import Home
from tests.cli.commands import MCPYARD, TIMEOUT, missing, write_project

pytestmark = pytest.mark.real

DEFINITION = '{"url": "http://h.invalid", "enabled": false}'
COMMANDS: dict[str, list[str]] = {
    "ls": ["ls"],
    "show": ["show", "one"],
    "tools": ["tools", "--project", "."],
    "call": ["call", "mcp_one_x", "--project", "."],
    "prompts": ["prompts"],
    "resources": ["resources"],
    "calls": ["calls"],
    "logs": ["logs", "one"],
    "start": ["start", "one"],
    "stop": ["stop", "one"],
    "restart": ["restart", "one"],
    "approve": ["approve"],
    "connect": ["connect", "codex", "--dry-run"],
    "login-link": ["login-link"],
    "open": ["open", "--no-browser"],
    "status": ["status"],
    "token": ["token", "ls"],
    "secret": ["secret", "ls"],
    "profile": ["profile", "ls"],
    "paths": ["paths"],
    "add": ["add", "two", "--json-text", DEFINITION],
    "edit": ["edit", "one", "--timeout", "5"],
    "rm": ["rm", "one", "--yes"],
    "import": ["import"],
    "login": ["login", "one"],
    "logout": ["logout", "one"],
    "clients": ["clients"],
    "disconnect": ["disconnect", "codex", "--dry-run"],
    "copy": ["copy", "one", "--from", "claude", "--to", "codex"],
    "sync": ["sync", "apply", "--to", "codex", "--yes"],
    "cluster": ["cluster", "status"],
    "undo": ["undo"],
    "backup": ["backup", "backup.db"],
    "restore": ["restore"],
    "service": ["service", "status"],
    "completion": ["completion", "bash"],
}
IN_A_PROCESS = {
    # They take over the whole process: signals, streams, the log.
    "up": ["up", "--port", "0", "--idle-exit", "1s"],
    "stdio": ["stdio"],
    "doctor": ["doctor"],
}
WITHOUT_JSON = {"completion", "stdio"}


class HostEnvironment:
    """A user's folder: the home of the yard, a project, the files of programs."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "yard"
        self.user = folder / "user"
        self.project = folder / "project"
        self.user.mkdir()
        write_project(self.project, one=missing(folder))

    @property
    def file(self) -> Path:
        return self.project / ".mcp.json"


def nothing(_: HostEnvironment) -> None:
    """No yard, no home, a server whose program is not there."""


def home_is_a_file(at: HostEnvironment) -> None:
    at.home.write_text("")


def state_is_garbage(at: HostEnvironment) -> None:
    at.home.mkdir()
    (at.home / "state.db").write_bytes(b"no database" * 500)
    (at.home / "yard.json").write_text("{")


def state_is_folders(at: HostEnvironment) -> None:
    for name in ("state.db", "journal.db", "token", "yard.json", "yard.lock", "key", "locks"):
        (at.home / name).mkdir(parents=True)


def yard_is_silent(at: HostEnvironment) -> None:
    """A yard that holds the home, and whose port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    at.home.mkdir()
    Home(at.home).announce(f"http://127.0.0.1:{port}")


def project_is_broken(at: HostEnvironment) -> None:
    at.file.write_text('{"mcpServers": {"one": ')


def project_is_binary(at: HostEnvironment) -> None:
    at.file.write_bytes(b"\xff\xfe\0\x01")


def project_is_nested(at: HostEnvironment) -> None:
    at.file.write_text('{"mcpServers":' + "[" * 100_000)


def project_is_a_folder(at: HostEnvironment) -> None:
    at.file.unlink()
    at.file.mkdir()


def project_is_a_pipe(at: HostEnvironment) -> None:
    at.file.unlink()
    os.mkfifo(at.file)


def programs_are_broken(at: HostEnvironment) -> None:
    (at.user / ".claude.json").write_bytes(b"\xff{")
    (at.user / ".codex" / "config.toml").mkdir(parents=True)
    (at.user / ".gemini").write_text("not a folder")


SITUATIONS: list[Callable[[HostEnvironment], None]] = [
    nothing,
    home_is_a_file,
    state_is_garbage,
    state_is_folders,
    yard_is_silent,
    project_is_broken,
    project_is_binary,
    project_is_nested,
    project_is_a_folder,
    project_is_a_pipe,
    programs_are_broken,
]


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostEnvironment:
    host_environment = HostEnvironment(tmp_path)
    monkeypatch.chdir(host_environment.project)
    monkeypatch.setenv("HOME", str(host_environment.user))
    monkeypatch.setenv("MCPYARD_HOME", str(host_environment.home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(host_environment.user / ".config"))
    return host_environment


def test_every_command_is_tried() -> None:
    assert COMMANDS.keys() | IN_A_PROCESS.keys() == get_group(app).commands.keys()


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.__name__)
def test_no_command_answers_with_a_traceback(
    situation: Callable[[HostEnvironment], None],
    at: HostEnvironment,
    capsys: pytest.CaptureFixture[str],
) -> None:
    situation(at)
    for name, words in COMMANDS.items():
        arguments = words if name in WITHOUT_JSON else [*words, "--json"]
        with pytest.raises(SystemExit) as ended:
            run(arguments)
        captured = capsys.readouterr()
        check(name, int(ended.value.code or 0), captured.out, captured.err)


@pytest.mark.parametrize("name", IN_A_PROCESS)
@pytest.mark.parametrize(
    "situation", [home_is_a_file, state_is_folders], ids=lambda each: each.__name__
)
def test_no_long_command_answers_with_a_traceback(
    name: str, situation: Callable[[HostEnvironment], None], at: HostEnvironment
) -> None:
    situation(at)
    words = IN_A_PROCESS[name] if name in WITHOUT_JSON else [*IN_A_PROCESS[name], "--json"]
    done = subprocess.run(
        [*MCPYARD, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
    )
    check(name, done.returncode, done.stdout, done.stderr)


def test_a_full_disk_is_told_and_leaves_every_file_as_it_was(at: HostEnvironment) -> None:
    before = at.file.read_bytes()
    for name in ("add", "import", "approve", "token", "copy"):
        words = [*COMMANDS[name], "--json"] if name != "token" else ["token", "rotate", "--json"]
        done = subprocess.run(
            ["bash", "-c", 'ulimit -f 0; exec "$@"', "bash", *MCPYARD, *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT,
        )
        check(name, done.returncode, done.stdout, done.stderr)
        assert done.returncode != 0
    assert at.file.read_bytes() == before


def check(name: str, code: int, out: str, err: str) -> None:
    assert code in {0, 1, 2, 3, 4, 5, 6}, (name, code, out, err)
    assert "Traceback" not in err + out, (name, err)
    if name in WITHOUT_JSON:
        return
    document = json.loads(out.strip().splitlines()[-1])
    if code and "error" in document:
        assert document["error"]["detail"], name
        assert document["error"]["exitCode"] == code, name
