"""Commands of daily use, as a person runs them: status, open, call by name, the end of a log."""

import json
import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.commands import (
    MCPYARD,
    TIMEOUT,
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
    project = write_project(folder / "p", one=echo(), bad=missing(folder))
    with yard_up(folder / "home", "--project", project) as up:
        up.event("status", name="one", status="connected")
        yield up


@pytest.fixture
def home(up: Up) -> Path:
    return up.home


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes the address down; the file is a pipe, so that reading waits for it."""
    page = tmp_path / "page"
    os.mkfifo(page)
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{page}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    return page


def test_status_tells_where_it_runs_and_how_many_servers_are_connected(up: Up, home: Path) -> None:
    record = answer("status", home=home)
    servers = {"total": 2, "connected": 1, "failing": 1}
    assert record.pop("version")
    assert record == {
        "running": True,
        "home": str(home),
        "url": up.url,
        "pid": up.process.pid,
        "servers": servers,
    }
    lines = [line.split(maxsplit=1) for line in mcpyard("status", home=home).stdout.splitlines()]
    assert ["address", up.url] in lines
    assert ["servers", "2 (1 connected, 1 failing)"] in lines


def test_status_ends_with_4_where_mcpyard_is_not_running(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert answer("status", home=home, code=4) == {"running": False, "home": str(home)}
    status = mcpyard("status", home=home)
    assert status.stdout == f"mcpyard is not running (home: {home})\nstart it: mcpyard up\n"
    assert not home.exists()


@pytest.mark.parametrize("command", [["open", "--no-browser"], ["login-link"]])
def test_a_link_is_printed_that_signs_a_browser_in(up: Up, home: Path, command: list[str]) -> None:
    assert mcpyard(*command, home=home).stdout.startswith(f"{up.url}/login?link=")
    assert answer(*command, home=home).keys() == {"url", "expires"}


def test_open_shows_the_page_in_a_browser(up: Up, home: Path, browser: Path) -> None:
    command = [*MCPYARD, "open", "--home", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as opening:
        address = browser.read_text()
        printed, _ = opening.communicate(timeout=TIMEOUT)
    assert address.startswith(f"{up.url}/login?link=")
    assert printed == f"{address}\n"


def test_open_without_a_browser_says_what_to_do(home: Path) -> None:
    opened = mcpyard("open", home=home, BROWSER="", DISPLAY="", WAYLAND_DISPLAY="")
    assert opened.returncode == 0
    assert opened.stdout.startswith("http://")
    assert "no browser found; open the link yourself" in opened.stderr


def test_up_opens_the_page_on_request(tmp_path: Path, browser: Path) -> None:
    with yard_up(tmp_path / "home", "--open") as up:
        assert browser.read_text().startswith(f"{up.url}/login?link=")


def test_up_says_how_to_stop_it_and_how_to_get_servers(tmp_path: Path) -> None:
    up = Up(tmp_path / "home")
    try:
        assert up.line().startswith("mcpyard ")
        assert up.line() == "press Ctrl-C to stop"
        assert up.line() == "No servers yet. Add one: mcpyard add NAME -- COMMAND ARGS..."
        assert "mcpyard import" in up.line()
        assert up.end(signal.SIGINT) == 0
    finally:
        up.close()


def test_an_empty_list_says_how_to_get_servers(tmp_path: Path) -> None:
    listed = mcpyard("ls", home=tmp_path / "home")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert "mcpyard add NAME -- COMMAND" in listed.stderr
    assert "mcpyard import" in listed.stderr


def test_a_tool_is_called_by_its_server_and_name_with_pairs(home: Path) -> None:
    assert mcpyard("call", "one", "echo", "text=5", home=home).stdout == "5\n"
    assert mcpyard("call", "mcp_one_echo", "text=hi", home=home).stdout == "hi\n"
    assert mcpyard("call", "one", "mcp_one_echo", "text=hi", home=home).stdout == "hi\n"
    outcome = answer("call", "one", "echo", "text=hi", "--args", '{"text": "no"}', home=home)
    assert outcome["content"][0]["text"] == "hi"


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["one", "nope"], 'the server "one" has no tool "nope"'),
        (["nobody", "echo"], 'there is no server "nobody"'),
        (["mcp_one_nope", "a=1"], 'there is no tool "mcp_one_nope"'),
        (["one", "echo", "text"], '"text" is not KEY=VALUE'),
        (["one", "echo"], 'the required property "text" is missing'),
    ],
)
def test_a_call_that_names_something_wrong_says_what(
    home: Path, words: list[str], detail: str
) -> None:
    error = answer("call", *words, home=home, code=2)["error"]
    assert detail in error["detail"]


def test_a_tool_is_called_by_name_while_mcpyard_is_not_running(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo())
    named = ("--project", project)
    home = tmp_path / "home"
    assert mcpyard("call", "one", "echo", "text=hi", *named, home=home).stdout == "hi\n"
    assert mcpyard("call", "mcp_one_echo", "text=hi", *named, home=home).stdout == "hi\n"
    error = answer("call", "one", "nope", *named, home=home, code=2)["error"]
    assert error["detail"] == 'the server "one" has no tool "nope"'


def test_the_end_of_a_log_is_shown_and_followed(home: Path) -> None:
    for line in ("first", "second", "third"):
        mcpyard("call", "one", "log", f"line={line}", home=home)
    assert [each["text"] for each in answer("logs", "one", "--tail", "2", home=home)] == [
        "second",
        "third",
    ]
    assert answer("logs", "one", "-n", "0", home=home) == []
    assert len(answer("logs", "one", "--tail", "9999", home=home)) >= 4
    command = [*MCPYARD, "logs", "one", "-f", "-n", "1", "--json", "--home", str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as following:
        try:
            assert following.stdout
            assert json.loads(following.stdout.readline())["text"] == "third"
            mcpyard("call", "one", "log", "line=fourth", home=home)
            assert json.loads(following.stdout.readline())["text"] == "fourth"
        finally:
            following.terminate()


def test_imported_servers_are_started_on_request(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text(json.dumps({"mcpServers": {"fresh": echo()}}))
    imported = mcpyard("import", file, "--scope", "user", "--start", home=home)
    assert imported.returncode == 0
    assert imported.stdout.endswith("fresh: connected\n")
    file.write_text(json.dumps({"mcpServers": {"gone": missing(tmp_path)}}))
    report = answer("import", file, "--scope", "user", "--start", home=home, code=4)
    assert report["started"][0]["status"] == "error"
    for name in ("fresh", "gone"):
        assert mcpyard("rm", name, "-y", home=home).stdout == f"removed {name}\n"


def test_an_import_that_is_to_start_servers_is_no_rehearsal(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    error = answer("import", file, "--start", "--dry-run", home=home, code=2)["error"]
    assert error["detail"] == "--start and --dry-run exclude each other"
    alone = answer("import", "--start", home=tmp_path / "home", code=4)["error"]
    assert alone["type"] == "urn:mcpyard:error:not-running"


def test_without_a_terminal_a_removal_says_which_option_confirms_it(home: Path) -> None:
    refused = mcpyard("rm", "one", home=home)
    assert refused.returncode == 2
    assert "hint: add --yes" in refused.stderr
