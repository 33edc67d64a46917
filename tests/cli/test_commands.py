"""Commands that speak to a running yard."""

import json
import os
import re
import select
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.commands import (
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


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    project = write_project(
        folder / "p", one=echo(env={"KEY": "0123456789abcdefsecret"}), bad=missing(folder)
    )
    with yard_up(folder / "home", "--project", project) as up:
        up.event("status", name="one", status="connected")
        yield up


@pytest.fixture
def home(up: Up) -> Path:
    return up.home


def refusal(*arguments: object, home: Path, code: int) -> Json:
    return answer(*arguments, home=home, code=code)["error"]


def test_ls_lists_every_server(home: Path) -> None:
    bad, one = answer("ls", home=home)
    assert (one["name"], one["status"], one["toolCount"]) == ("one", "connected", 7)
    assert "tools" not in one
    assert bad["error"]["code"] == "command_missing"
    lines = mcpyard("ls", home=home).stdout.splitlines()
    assert lines[0].split() == ["STATUS", "NAME", "TRANSPORT", "TOOLS", "COMMAND", "OR", "REASON"]
    assert lines[1].endswith('no such program"')
    assert lines[2].split()[:4] == ["connected", "one", "stdio", "7"]


def test_show_shows_one_server_and_no_secret(home: Path) -> None:
    record = answer("show", "one", home=home)
    assert record["tools"][0]["name"] == "echo"
    assert answer("show", record["id"], home=home)["name"] == "one"
    output = mcpyard("show", "one", home=home).stdout
    assert "tool echo: Say it again.\n" in output
    assert re.search(r"resources +[\d.]+ MB memory, [\d.]+ % CPU, 1 process\n", output)
    assert "abcdefsecret" not in output + json.dumps(record)
    assert "hint             Check the spelling" in mcpyard("show", "bad", home=home).stdout


def test_tools_lists_tools_of_one_server_and_of_all(home: Path) -> None:
    assert answer("tools", "one", home=home)[0]["exposedName"] == "mcp_one_echo"
    assert len(answer("tools", home=home)) == 7
    assert "mcp_one_echo       one     Say it again.\n" in mcpyard("tools", home=home).stdout


def test_call_prints_the_outcome(home: Path) -> None:
    outcome = answer("call", "mcp_one_echo", "--args", '{"text": "hé"}', home=home)
    assert outcome["content"] == [{"type": "text", "text": "hé"}]
    assert outcome["structuredContent"] == {"kept": [1, {"x": None}]}
    assert outcome["yard"]["tool"] == "echo"
    result = mcpyard("call", "mcp_one_echo", "--args", '{"text": "hi\\u001b[2J"}', home=home)
    assert (result.returncode, result.stdout) == (0, "hi\N{REPLACEMENT CHARACTER}[2J\n")


@pytest.mark.parametrize(
    ("arguments", "code", "slug"),
    [
        (["mcp_one_echo", "--args", '{"text": 1}'], 2, "invalid-arguments"),
        (["mcp_one_nothing"], 2, "tool-unknown"),
        (["mcp_one_refuse"], 5, "call-refused"),
        (["mcp_one_echo", "--args", "{"], 2, "usage"),
        (["mcp_one_echo", "--args", "[1]"], 2, "usage"),
        (["mcp_one_echo", "--args", '{"text": NaN}'], 2, "usage"),
        (["mcp_one_echo", "--args", '{"text": "\\ud800"}'], 2, "usage"),
        (["mcp_one_echo", "--args", "[" * 100_000], 2, "usage"),
        (["mcp_one_echo", "--args", '{"text": ' + "9" * 10_000 + "}"], 2, "usage"),
        (["mcp_one_echo", "--timeout", "0"], 2, "usage"),
        (["mcp_one_echo", "--timeout", "0.5"], 2, "usage"),
        (["mcp_one_echo", "--timeout", "soon"], 2, "usage"),
        (["mcp_one_echo", "--timeout", "1000000000000"], 2, "invalid-arguments"),
        (["mcp_one_echo", "--fast"], 2, "usage"),
        ([], 2, "usage"),
    ],
)
def test_a_call_that_cannot_be_made_ends_with_its_code(
    home: Path, arguments: list[str], code: int, slug: str
) -> None:
    error = refusal("call", *arguments, home=home, code=code)
    assert error["type"] == f"urn:mcpyard:error:{slug}"
    assert error["exitCode"] == code


def test_the_limit_of_a_call_is_in_milliseconds(home: Path) -> None:
    error = refusal("call", "mcp_one_hang", "--timeout", "50", home=home, code=6)
    assert error["type"] == "urn:mcpyard:error:timed-out"
    # It is less where the server was not quite up.
    assert re.search(r"in time \(0\.0[0-9]+ s\)", error["detail"])


def test_a_tool_that_says_error_ends_with_5_and_its_outcome(home: Path) -> None:
    assert answer("call", "mcp_one_fail", home=home, code=5)["isError"] is True
    assert mcpyard("call", "mcp_one_fail", home=home).stdout == "it went wrong\n"


def test_bad_json_is_told_with_its_position_on_standard_error(home: Path) -> None:
    result = mcpyard("call", "mcp_one_echo", "--args", '{"text":\n x}', home=home)
    error, hint = result.stderr.splitlines()
    assert error == "error: --args is not JSON: Expecting value at line 2, column 2"
    assert hint.startswith("hint: ")
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["show", "tools", "logs", "start", "stop", "restart"])
def test_an_unknown_server_is_a_usage_error(home: Path, command: str) -> None:
    assert refusal(command, "no/such", home=home, code=2)["type"].endswith(":server-unknown")


def test_logs_shows_what_a_server_said(home: Path) -> None:
    mcpyard("call", "mcp_one_log", "--args", '{"line": "a word"}', home=home)
    numbered = answer("logs", "one", home=home)
    assert numbered[0]["text"].startswith("echo server")
    assert mcpyard("logs", "one", home=home).stdout.endswith("a word\n")


def test_a_followed_log_is_printed_as_it_comes(home: Path) -> None:
    command = [*MCPYARD, "logs", "one", "--follow", "--json", "--home", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as following:
        try:
            assert following.stdout
            assert json.loads(read_line(following.stdout.fileno()))["number"] == 1
        finally:
            following.terminate()


def read_line(fd: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([fd], [], [], TIMEOUT)[0], line
        line += os.read(fd, 1)
    return line


def test_servers_are_stopped_started_and_restarted(home: Path) -> None:
    assert mcpyard("stop", "one", home=home).stdout == "one: stopped\n"
    assert answer("start", "one", home=home)["status"] == "connected"
    assert mcpyard("restart", "one", "--wait", "9", home=home).stdout == "one: connected\n"
    assert refusal("start", "one", "--wait", "-1", home=home, code=2)["title"] == "Usage"


def test_several_servers_are_started_and_stopped_in_one_go(home: Path) -> None:
    both = answer("stop", "one", "bad", home=home)
    assert [(each["name"], each["state"]) for each in both] == [
        ("one", "stopped"),
        ("bad", "stopped"),
    ]
    result = mcpyard("start", "no/such", "bad", "one", "one", home=home)
    bad, _, one = result.stdout.splitlines()
    assert bad.startswith("bad: failed: ")
    assert one == "one: connected"
    assert result.stderr.startswith('error: there is no server "no/such"')
    assert result.returncode == 4
    first, refused = answer("restart", "one", "nobody", home=home, code=2)
    assert first["status"] == "connected"
    assert refused["error"]["exitCode"] == 2


def test_a_server_that_does_not_start_ends_with_4(home: Path) -> None:
    failed = mcpyard("restart", "bad", "--wait", "30", home=home)
    assert failed.returncode == 4
    assert failed.stdout.startswith('bad: failed: command not found: "')
    assert failed.stdout.endswith("hint: Check the spelling, or use the full path.\n")


def test_the_running_yard_answers_even_where_a_project_is_named(home: Path, tmp_path: Path) -> None:
    project = write_project(tmp_path / "other", two=echo())
    listed = mcpyard("ls", "--json", "--project", project, home=home)
    assert [each["name"] for each in json.loads(listed.stdout)] == ["bad", "one"]
    assert "--project is ignored" in listed.stderr


def test_doctor_sees_the_running_yard(home: Path, up: Up) -> None:
    findings = {each["check"]: each for each in answer("doctor", home=home)["findings"]}
    assert findings["yard"]["message"] == f"running at {up.url} (pid {up.process.pid})"


def test_a_wrong_token_is_refused_and_said_so(home: Path) -> None:
    error = answer("ls", home=home, code=1, MCPYARD_TOKEN="wrong")["error"]  # noqa: S106  it is
    assert error["type"] == "urn:mcpyard:error:unauthorized"
