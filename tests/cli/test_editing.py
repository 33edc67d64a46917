"""Adding, changing and removing servers of a running yard from the command line."""

import json
import os
import pty
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.commands import (
    ECHO_SERVER,
    MCPYARD,
    TIMEOUT,
    Json,
    Up,
    answer,
    echo,
    mcpyard,
    missing,
    write_project,
    yard_up,
)

pytestmark = pytest.mark.real

ECHO = [str(echo()["command"]), "-I", "-S", ECHO_SERVER]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    project = write_project(folder / "p", old=echo(env={"A": "1", "B": "2"}))
    with yard_up(folder / "home", "--project", project) as up:
        up.event("status", name="old", status="connected")
        yield up


@pytest.fixture
def home(up: Up) -> Path:
    return up.home


@pytest.fixture
def entries(home: Path) -> "Entries":
    return Entries(home.parent / "p" / ".mcp.json")


class Entries:
    """The servers of the project's file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getitem__(self, name: str) -> Json:
        return self.all()[name]

    def all(self) -> Json:
        return json.loads(self._path.read_text())["mcpServers"]


def refusal(*arguments: object, home: Path, code: int) -> str:
    return answer(*arguments, home=home, code=code)["error"]["type"].rpartition(":")[2]


def on_terminal(*arguments: object, home: Path, typed: bytes) -> tuple[int, str]:
    """Run a command at a terminal; its exit code and what it said there."""
    controller, terminal = pty.openpty()
    try:
        command = [*MCPYARD, *map(str, arguments)]
        env = os.environ | {"MCPYARD_HOME": str(home)}
        with subprocess.Popen(
            command, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, env=env
        ) as running:
            os.write(controller, typed)
            running.communicate(timeout=TIMEOUT)
        return running.returncode, os.read(controller, 1 << 16).decode()
    finally:
        os.close(controller)
        os.close(terminal)


def test_a_command_is_added_to_the_projects_file_and_started(home: Path, entries: Entries) -> None:
    options = ["--env", "KEY=a=b", "--timeout", "5000", "--wait", "60"]
    added = mcpyard("add", "one", *options, "--", *ECHO, home=home)
    assert (added.returncode, added.stdout) == (0, "added one (project scope): connected\n")
    assert added.stderr.count("warning: ") == 1
    assert "warning: env.KEY: is plain text in a file that is often shared" in added.stderr
    assert entries["one"]["args"] == ECHO[1:]
    assert entries["one"]["env"] == {"KEY": "a=b"}
    assert answer("show", "one", home=home)["timeout"] == 5000


def test_what_stands_behind_the_dashes_is_the_commands_own(home: Path, entries: Entries) -> None:
    words = ["x", "--json", "--wait", "--", "-y"]
    assert mcpyard("add", "dashes", "--no-start", "--", *words, home=home).returncode == 0
    assert entries["dashes"]["args"] == words[1:]
    result = mcpyard("add", "dashes", "--", *words, home=home)
    assert result.stderr.startswith('error: the name "dashes" is in use')
    assert result.stdout == ""


def test_an_address_is_added_with_its_headers(home: Path, entries: Entries) -> None:
    url = "http://127.0.0.1:9/mcp"
    record = answer(
        *("add", "far", url, "--header", "X-One: ${ONE:-1}", "--transport", "http"),
        *("--scope", "user"),
        home=home,
    )
    assert (record["scope"], record["wanted"], record["status"]) == (
        "user",
        "stopped",
        "disconnected",
    )
    assert (record["url"], record["headers"]) == (url, {"X-One": "${ONE:-1}"})
    assert "far" not in entries.all()


def test_a_definition_comes_as_json_by_option_or_standard_input(home: Path) -> None:
    text = json.dumps({"name": "told", "type": "local", "command": ["x", "y"], "start": False})
    assert answer("add", "--json-text", text, "--scope", "user", home=home)["args"] == ["y"]
    piped = subprocess.run(
        [*MCPYARD, "add", "piped", "--json-text", "-", "--no-start", "--json"],
        input=text.encode(),
        capture_output=True,
        check=True,
        env=os.environ | {"MCPYARD_HOME": str(home)},
    )
    assert json.loads(piped.stdout)["name"] == "piped"


def test_any_field_is_changed_by_json_and_what_is_unusual_is_shown(home: Path) -> None:
    mcpyard("add", "checked", "--no-start", "--scope", "user", "--", "x", home=home)
    text = json.dumps({"health": {"failures": 5}, "restart": {"attempts": 0}})
    changed = answer("edit", "checked", "--json-text", text, "--timeout", "7", home=home)
    assert changed["health"] == {"interval": 30_000, "timeout": 5000, "failures": 5}
    assert (changed["restart"]["attempts"], changed["timeout"]) == (0, 7)
    output = mcpyard("show", "checked", home=home).stdout
    assert 'health           {"interval": 30000, "timeout": 5000, "failures": 5}' in output
    assert '"attempts": 0' in output
    usual = answer("edit", "checked", "--json-text", '{"health": null}', home=home)
    assert usual["health"]["failures"] == 3
    wrong = '{"health": {"failures": 0}}'
    assert refusal("edit", "checked", "--json-text", wrong, home=home, code=3)
    output = mcpyard("edit", "checked", "--json-text", wrong, home=home).stderr
    assert "health.failures: must be greater than 0, found the number 0" in output


def test_a_folder_is_the_one_the_command_was_given_in(home: Path, entries: Entries) -> None:
    mcpyard("add", "here", "--cwd", ".", "--no-start", "--", "x", home=home, cwd=home)
    assert entries["here"]["cwd"] == str(home)
    mcpyard("add", "there", "--cwd", "${HOME}/x", "--no-start", "--", "x", home=home)
    assert entries["there"]["cwd"] == "${HOME}/x"


def test_a_server_that_does_not_come_up_is_added_and_ends_with_4(home: Path) -> None:
    command = str(missing(home)["command"])
    added = mcpyard("add", "broken", "--wait", "60", "--", command, home=home)
    assert added.returncode == 4
    assert added.stdout.startswith('added broken (project scope): failed: command not found: "')
    assert "hint: " in added.stdout
    assert mcpyard("add", "broken2", "--", command, home=home).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "slug"),
    [
        ([], 2, "usage"),
        (["x"], 2, "usage"),
        (["x", "http://h/", "more"], 2, "usage"),
        (["x", "5", "--", "y"], 2, "usage"),
        (["x", "--wait", "--", "y"], 2, "usage"),
        (["x", "--wait", "601", "--", "y"], 2, "usage"),
        (["x", "ftp://h/y"], 3, "invalid-definition"),
        (["x", "--env", "nothing", "--", "y"], 2, "usage"),
        (["x", "--header", "nothing", "http://h/"], 2, "usage"),
        (["x", "--scope", "moon", "--", "y"], 2, "usage"),
        (["x", "--json-text", "{"], 2, "usage"),
        (["x", "--json-text", "[]"], 2, "usage"),
        (["x", "--json-text", '{"mcpServers": {}}'], 2, "usage"),
        (["--json-text", '{"command": "y"}'], 2, "usage"),
        (["x", "--json-text", '{"command": 5}'], 3, "invalid-definition"),
        (["x", "--timeout", "0", "--", "y"], 3, "invalid-definition"),
        (["x\n", "--", "y"], 3, "invalid-name"),
        (["old", "--", "y"], 2, "name-taken"),
    ],
)
def test_what_cannot_be_added_ends_with_its_code(
    home: Path, arguments: list[str], code: int, slug: str
) -> None:
    head = arguments[: arguments.index("--")] if "--" in arguments else arguments
    rest = arguments[len(head) :]
    assert refusal("add", *head, "--json", *rest, home=home, code=code) == slug
    assert "x" not in [each["name"] for each in answer("ls", home=home)]


def test_a_bad_field_is_named(home: Path) -> None:
    result = mcpyard("add", "bad", "--timeout", "-5", "--", "x", home=home)
    assert result.returncode == 3
    assert result.stderr.startswith("error: timeout: must be greater than 0")


def test_a_secret_whose_name_was_forgotten_is_not_repeated(home: Path) -> None:
    result = mcpyard("add", "x", "--env", "s3cret-value", "--", "y", home=home)
    assert result.stderr == "error: --env takes NAME=VALUE\nhint: for example: --env MODE=fast\n"


def test_an_edit_changes_what_it_says_and_nothing_else(home: Path, entries: Entries) -> None:
    before, pid = entries["old"], answer("show", "old", home=home)["pid"]
    changed = answer("edit", "old", "--env", "A=", "--env", "C=3", "--wait", "60", home=home)
    assert entries["old"] == before | {"env": {"B": "2", "C": "3"}}
    assert (changed["status"], changed["pid"] == pid) == ("connected", False)
    result = mcpyard("edit", "old", "--timeout", "7000", "--wait", "60", home=home)
    assert result.stdout == "changed old (project scope): connected\n"
    after = answer("show", "old", home=home)
    assert (after["timeout"], after["pid"]) == (7000, changed["pid"])


def test_command_and_arguments_are_changed_alone_or_together(home: Path, entries: Entries) -> None:
    mcpyard("add", "parts", "--no-start", "--", "x", "-a", "-b", home=home)
    mcpyard("edit", "parts", "--command", "y", home=home)
    assert (entries["parts"]["command"], entries["parts"]["args"]) == ("y", ["-a", "-b"])
    mcpyard("edit", "parts", "--arg", "-c", "--arg", "d", home=home)
    assert (entries["parts"]["command"], entries["parts"]["args"]) == ("y", ["-c", "d"])
    mcpyard("edit", "parts", "--", "z", home=home)
    assert (entries["parts"]["command"], entries["parts"]["args"]) == ("z", [])
    assert refusal("edit", "parts", "--json", "--arg", "q", "--", "z", home=home, code=2) == "usage"


def test_a_local_server_becomes_a_remote_one_and_back(home: Path, entries: Entries) -> None:
    mcpyard("add", "both", "--env", "A=1", "--cwd", "/", "--no-start", "--", "x", "y", home=home)
    edited = mcpyard("edit", "both", "--url", "http://127.0.0.1:9/", home=home)
    assert edited.returncode == 0, edited.stderr
    assert entries["both"].keys() & {"command", "args", "env", "cwd", "url"} == {"url"}
    assert mcpyard("edit", "both", "--header", "X: 1", home=home).returncode == 0
    assert entries["both"]["headers"] == {"X": "1"}
    assert mcpyard("edit", "both", "--header", "X:", home=home).returncode == 0
    assert "headers" not in entries["both"]
    assert mcpyard("edit", "both", "--", "x", home=home).returncode == 0
    assert (entries["both"]["command"], "url" in entries["both"]) == ("x", False)


def test_a_server_is_renamed_disabled_and_enabled(home: Path, entries: Entries) -> None:
    record = answer("add", "first", "--json", "--wait", "60", "--", *ECHO, home=home)
    assert answer("edit", "first", "--name", "second", home=home)["id"] == record["id"]
    assert "first" not in entries.all()
    off = answer("edit", "second", "--disable", "--wait", "60", home=home)
    assert (off["enabled"], off["state"]) == (False, "stopped")
    assert answer("edit", "second", "--enable", "--wait", "60", home=home)["status"] == "connected"


def test_an_edit_of_another_state_than_the_one_that_is_meant_is_refused(home: Path) -> None:
    digest = answer("add", "meant", "--no-start", "--json", "--", "x", home=home)["digest"]
    first = ["edit", "meant", "--if-match", digest, "--timeout", "5"]
    assert answer(*first, home=home)["timeout"] == 5
    assert refusal(*first, home=home, code=1) == "document-moved"


@pytest.mark.parametrize("digest", ["", "a\nb", "\N{CJK UNIFIED IDEOGRAPH-65E5}", "*"])
def test_what_is_no_digest_is_a_usage_error_and_changes_nothing(home: Path, digest: str) -> None:
    edit = ["edit", "old", "--if-match", digest, "--timeout", "7"]
    assert refusal(*edit, home=home, code=2) == "usage"
    assert answer("show", "old", home=home)["timeout"] != 7


def test_an_edit_that_must_not_restart_is_refused_while_it_runs(home: Path) -> None:
    answer("add", "busy", "--wait", "60", "--json", "--", *ECHO, home=home)
    gently = ["edit", "busy", "--when-running", "refuse"]
    assert refusal(*gently, "--env", "A=1", home=home, code=2) == "still-running"
    assert answer(*gently, "--timeout", "9", home=home)["status"] == "connected"


def test_an_edit_that_says_nothing_or_names_nobody_is_a_usage_error(home: Path) -> None:
    assert refusal("edit", "old", home=home, code=2) == "usage"
    assert refusal("edit", "nobody", "--timeout", "5", home=home, code=2) == "server-unknown"


def test_a_folder_that_was_set_can_be_unset(home: Path, entries: Entries) -> None:
    mcpyard("add", "set", "--cwd", "/", "--no-start", "--", "x", home=home)
    mcpyard("edit", "set", "--cwd", "", home=home)
    assert "cwd" not in entries["set"]


def test_removing_asks_on_a_terminal_and_tells_what_it_stops(home: Path) -> None:
    pid = answer("add", "doomed", "--wait", "60", "--json", "--", *ECHO, home=home)["pid"]
    code, output = on_terminal("rm", "doomed", home=home, typed=b"n\n")
    assert code == 1
    assert f'"doomed" (connected, pid {pid}) will be stopped' in output
    assert "nothing removed" in output
    assert answer("show", "doomed", home=home)["pid"] == pid
    code, output = on_terminal("rm", "doomed", home=home, typed=b"y\n")
    assert code == 0
    assert refusal("show", "doomed", home=home, code=2) == "server-unknown"


def test_without_a_terminal_removing_needs_the_word(home: Path, entries: Entries) -> None:
    mcpyard("add", "kept", "--no-start", "--", "x", home=home)
    assert refusal("rm", "kept", home=home, code=2) == "usage"
    assert "kept" in entries.all()
    removed = answer("rm", "kept", "--yes", home=home)["removed"]
    assert (removed["name"], removed["scope"]) == ("kept", "project")
    assert "kept" not in entries.all()
    assert refusal("rm", "kept", "--yes", home=home, code=2) == "server-unknown"


@pytest.mark.parametrize(
    "command",
    [
        ["add", "x", "--", "y"],
        ["edit", "x", "--timeout", "5"],
        ["rm", "x", "--yes"],
        ["login", "x"],
    ],
)
def test_without_a_yard_it_is_told_how_to_start_one(tmp_path: Path, command: list[str]) -> None:
    result = mcpyard(*command, home=tmp_path / "home")
    assert result.returncode == 4
    assert result.stderr.startswith("error: mcpyard is not running ")
    assert "hint: start it: mcpyard up\n" in result.stderr
    assert not (tmp_path / "home").exists()
