"""Commands without a running yard: they read, and run only what was named."""

import json
import re
from pathlib import Path

import pytest

from mcpyard.cli.known_servers import find_servers
from mcpyard.cli.private import failure, private_yard, settled_record
from mcpyard.domain.errors import StartFailed
from mcpyard.store.sqlite.store import Store
from tests.cli.commands import ECHO_SERVER, answer, echo, mcpyard, missing, write_project
from tests.store.contract import added

pytestmark = pytest.mark.real


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "p", one=echo(), one_more=echo(), bad=missing(tmp_path))


def marker(path: Path) -> dict[str, object]:
    """A server that leaves a trace when it is started."""
    return {"command": "touch", "args": [str(path)], "transport": "stdio"}


@pytest.mark.parametrize("named", [True, False])
def test_ls_starts_nothing_and_says_not_running(home: Path, tmp_path: Path, named: bool) -> None:
    folder = write_project(tmp_path / "p", trace=marker(tmp_path / "trace"))
    arguments = ["--project", folder] if named else []
    listed = mcpyard("ls", *arguments, home=home, cwd=folder)
    assert listed.returncode == 0
    assert "not running  trace" in listed.stdout
    assert listed.stderr == f"note: mcpyard is not running (home: {home})\n"
    (record,) = answer("ls", *arguments, home=home, cwd=folder)
    assert (record["yard"], record["status"], record["id"]) == ("not running", "disconnected", None)
    assert not (tmp_path / "trace").exists()
    assert not home.exists(), "reading leaves no trace either"


def test_ls_lists_the_servers_of_the_environment(home: Path) -> None:
    (record,) = answer("ls", home=home, TIME_MCP_SERVER_URL="some command")
    assert (record["name"], record["scope"], record["command"]) == ("time", "env", "some")


def test_ls_tells_of_a_bad_entry_and_lists_the_others(home: Path, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", good=echo(), odd={"command": 5})
    listed = mcpyard("ls", "--project", folder, home=home)
    assert listed.returncode == 0
    assert "good" in listed.stdout
    assert "problem: " in listed.stderr
    assert "mcpServers.odd.command" in listed.stderr


@pytest.mark.parametrize("command", [["ls"], ["show", "x"], ["tools"], ["call", "mcp_x_y"]])
def test_a_file_that_does_not_parse_ends_with_3(
    home: Path, tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {,}}')
    error = answer(*command, "--project", tmp_path, home=home, code=3)["error"]
    assert error["type"] == "urn:mcpyard:error:broken-document"
    assert ".mcp.json:1:17" in error["detail"]


def test_a_file_that_is_not_utf8_ends_with_3(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_bytes(b'{"\xff": 1}')
    assert "is not UTF-8" in answer("ls", home=home, code=3)["error"]["detail"]


def test_show_shows_a_definition(home: Path, project: Path) -> None:
    record = answer("show", "one", "--project", project, home=home)
    assert record["args"][-1] == ECHO_SERVER
    assert answer("show", "no", "--project", project, home=home, code=2)["error"]


def test_call_runs_the_one_server_of_a_named_project(home: Path, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", one=echo(), trace=marker(tmp_path / "trace"))
    called = mcpyard(
        *("call", "mcp_one_echo", "--args", '{"text": "hi"}', "--json", "--project", folder),
        home=home,
        OTHER_MCP_SERVER_URL=f"touch {tmp_path / 'trace'}",
    )
    assert json.loads(called.stdout)["yard"]["server"] == "one"
    assert called.stderr == "one: connecting\none: connected\n"
    assert not (tmp_path / "trace").exists()
    assert not home.exists()


def test_call_starts_only_the_server_whose_name_fits_best(home: Path, project: Path) -> None:
    called = mcpyard("call", "mcp_one_more_log", "--json", "--project", project, home=home)
    assert json.loads(called.stdout)["yard"]["server"] == "one_more"
    assert called.stderr == "one_more: connecting\none_more: connected\n"


@pytest.mark.parametrize("command", [["call", "mcp_trace_x"], ["tools", "trace"], ["tools"]])
def test_a_file_that_was_merely_found_is_not_run(
    home: Path, tmp_path: Path, command: list[str]
) -> None:
    folder = write_project(tmp_path / "p", trace=marker(tmp_path / "trace"))
    error = answer(*command, home=home, cwd=folder, code=4)["error"]
    assert error["type"] == "urn:mcpyard:error:needs-approval"
    assert f"mcpyard approve {folder}" in error["detail"]
    assert not (tmp_path / "trace").exists()


def test_a_folder_that_was_approved_before_is_run(home: Path, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", one=echo())
    assert answer("tools", home=home, cwd=folder, code=4)["error"]["type"].endswith("approval")
    answer("approve", home=home, cwd=folder)
    assert {each["server"] for each in answer("tools", home=home, cwd=folder)} == {"one"}


async def test_a_server_of_ones_own_is_called_unless_it_is_to_stay_stopped(home: Path) -> None:
    store = await Store.open(home)
    for name, wanted_state in (("mine", "running"), ("waits", "stopped")):
        made = await added(store, name, echo())
        await store.policies.set(made.id, {"wanted": wanted_state})
    await store.close()
    listed = answer("tools", home=home)
    assert {each["server"] for each in listed} == {"mine"}
    refused = answer("call", "mcp_waits_echo", home=home, code=4)
    assert "mcpyard start waits" in refused["error"]["detail"]


async def test_a_server_that_never_answers_is_waited_for_once(tmp_path: Path) -> None:
    mute = {"command": "sleep", "args": ["60"], "transport": "stdio", "startTimeout": 200}
    server = find_servers(write_project(tmp_path / "p", mute=mute)).server("mute")
    async with private_yard(server) as yard:
        record = await settled_record(yard, "mute")
    assert (record.attempt, record.phase) == (1, "backoff")
    fault = failure(record)
    assert isinstance(fault, StartFailed)
    assert fault.cause
    assert fault.cause.code == "start_timeout"


def test_a_server_of_the_environment_can_be_called(home: Path) -> None:
    command = f"python3 {ECHO_SERVER}"
    outcome = answer("call", "mcp_env_log", home=home, ENV_MCP_SERVER_URL=command)
    assert outcome["yard"]["server"] == "env"


@pytest.mark.parametrize(
    ("arguments", "code", "slug"),
    [
        (["mcp_bad_x"], 4, "start-failed"),
        (["mcp_one_no"], 2, "tool-unknown"),
        (["nonsense"], 2, "tool-unknown"),
        (["mcp_one_echo"], 2, "invalid-arguments"),
        (["mcp_one_echo", "--args", '{"n": 123456789012345678901234}'], 2, "invalid-arguments"),
        (["mcp_one_log", "--args", '{"n": 123456789012345678901234}'], 2, "invalid-arguments"),
        (["mcp_one_refuse"], 5, "call-refused"),
    ],
)
def test_a_private_call_that_fails_ends_with_its_code(
    home: Path, project: Path, arguments: list[str], code: int, slug: str
) -> None:
    error = answer("call", *arguments, "--project", project, home=home, code=code)["error"]
    assert error["type"] == f"urn:mcpyard:error:{slug}"


def test_the_limit_of_a_private_call_is_in_milliseconds(home: Path, project: Path) -> None:
    hang = ("call", "mcp_one_hang", "--timeout", "50", "--project", project)
    error = answer(*hang, home=home, code=6)["error"]
    assert error["type"] == "urn:mcpyard:error:timed-out"
    # It is less where the server was not quite up.
    assert re.search(r"in time \(0\.0[0-9]+ s\)", error["detail"])


def test_a_server_that_fails_is_told_with_hint_and_last_words(home: Path, tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", bad=echo("exits"))
    failed = mcpyard("call", "mcp_bad_x", "--project", project, home=home)
    assert failed.returncode == 4
    lines = failed.stderr.splitlines()
    assert 'error: the server "bad" is not connected: the process exited with code 3' in lines
    assert any(line.startswith("hint: ") for line in lines)
    assert lines[-1] == "  | no licence found"


def test_a_definition_that_cannot_be_launched_ends_with_3(home: Path, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", x=echo(env={"A": "${SURELY_NOT_SET}"}), y=echo())
    error = answer("call", "mcp_x_echo", "--project", folder, home=home, code=3)["error"]
    assert "SURELY_NOT_SET is not set" in error["detail"]
    folder = write_project(tmp_path / "p", x=echo(enabled=False))
    error = answer("tools", "x", "--project", folder, home=home, code=4)["error"]
    assert error["type"] == "urn:mcpyard:error:disabled"


def test_a_tool_that_says_error_ends_with_5(home: Path, project: Path) -> None:
    assert answer("call", "mcp_one_fail", "--project", project, home=home, code=5)["isError"]


def test_tools_of_all_lists_what_comes_up_and_tells_what_does_not(
    home: Path, project: Path
) -> None:
    listed = mcpyard("tools", "--json", "--project", project, home=home)
    assert listed.returncode == 4
    assert {each["server"] for each in json.loads(listed.stdout)} == {"one", "one_more"}
    assert 'error: the server "bad" is not connected' in listed.stderr
    assert len(answer("tools", "one", "--project", project, home=home)) == 7


def test_a_name_that_was_cut_is_found_again(home: Path, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "p", one=echo("long"))
    (tool,) = answer("tools", "one", "--project", folder, home=home)
    name = tool["exposedName"]
    assert re.fullmatch(r"mcp_one_t+_[0-9a-f]{8}", name)
    assert answer("call", name, "--project", folder, home=home)["yard"]["tool"] == "t" * 80


@pytest.mark.parametrize("command", ["logs", "start", "stop", "restart"])
def test_what_only_a_running_yard_can_do_says_so(home: Path, command: str) -> None:
    result = mcpyard(command, "x", home=home)
    assert result.returncode == 4
    assert result.stderr.startswith("error: mcpyard is not running ")
    assert "hint: start it: mcpyard up\n" in result.stderr
    assert not home.exists()
