"""What the commands say when something is not as it should be: where, why, and what to do."""

import json
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.cli.commands import connect
from mcpyard.cli.launcher import run
from mcpyard.client.discovery import need_yard
from mcpyard.store import home as homes
from tests.cli.commands import Up, echo, write_project, yard_up
from tests.clients.machine import FILES, lay

pytestmark = pytest.mark.real

CLAUDE = json.dumps({"mcpServers": {"one": {"command": "run"}, "two": echo()}})
DYING = ("sh", "-c", "for n in 1 2 3 4 5; do echo line $n >&2; done; exit 3")


class Terminal:
    """A user's terminal that is none, with commands that run in this very process."""

    def __init__(self, user: Path, up: Up, capsys: pytest.CaptureFixture[str]) -> None:
        self.user = user
        self.up = up
        self._capsys = capsys

    def run(self, *arguments: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            run([*map(str, arguments)])
        out, err = self._capsys.readouterr()
        assert (ended.value.code or 0) == code, out + err
        return out + err


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    user = lay(folder / "user", claude=CLAUDE)
    project = write_project(folder / "p", good=echo())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(user))
        with yard_up(folder / "home", "--project", project) as up:
            yield up


@pytest.fixture
def terminal(
    up: Up, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    user = up.home.parent / "user"
    lay(user, claude=CLAUDE)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("MCPYARD_HOME", str(up.home))
    monkeypatch.chdir(tmp_path)
    return Terminal(user, up, capsys)


def test_what_was_imported_and_runs_is_asked_about_before_an_undo_stops_it(
    terminal: Terminal,
) -> None:
    terminal.run("copy", "--from", "claude", "--to", "codex", "one")
    terminal.run("import", "--scope", "user")
    terminal.run("add", "later", "--scope", "user", "--", "mcpyard-legal")
    terminal.run("start", "two")
    edits = json.loads(terminal.run("undo", "--list", "--json"))
    assert [each["kind"] for each in edits[:3]] == ["add", "import", "copy"]
    imported, copied = edits[1]["id"], edits[2]["id"]
    refused = terminal.run("undo", imported, code=2)
    assert '"two" (connected, pid ' in refused
    assert "hint: add --yes" in refused
    assert terminal.run("undo", imported, "--yes").startswith("--- yard:user\n")
    terminal.run("undo", copied)
    assert not (terminal.user / FILES["codex"]).exists()
    listed = [line.split() for line in terminal.run("undo", "--list").splitlines()]
    assert listed[0] == ["ID", "WHEN", "WHAT", "BY", "WHERE"]
    assert [" ".join(line[2:]) for line in listed[1:4]] == [
        "add rest yard:user (later)",
        "import, undone rest yard:user (one, two)",
        f"copy, undone rest {terminal.user / FILES['codex']} (one)",
    ]


def test_a_broken_file_of_a_program_is_told_and_the_rest_is_imported(terminal: Terminal) -> None:
    lay(terminal.user, codex="[mcp_servers.a]\ncommand = \n")
    broken = f"{terminal.user / FILES['codex']}:2:11: "
    output = terminal.run("import", "--dry-run", code=3)
    assert f"problem: {broken}" in output
    assert "importable  one" in output
    answered = json.loads(terminal.run("import", "--dry-run", "--json", code=3))
    (problem,) = answered["problems"]
    assert (problem["place"]["line"], problem["place"]["column"]) == (2, 11)
    (terminal.user / FILES["codex"]).unlink()


def test_a_broken_project_file_shows_in_the_list_of_a_running_yard(terminal: Terminal) -> None:
    file = terminal.up.home.parent / "p" / ".mcp.json"
    good = file.read_text()
    file.write_text('{\n  "mcpServers": {,\n')
    while not terminal.up.event("documents")["problems"]:
        """It is read a few times before it counts as broken."""
    output = terminal.run("ls", code=3)
    assert f"problem: {file}:2:18: " in output
    assert "good" in output, "the last good one is in force"
    file.write_text(good)
    while terminal.up.event("documents")["problems"]:
        """The next reading finds it mended."""
    assert "problem" not in terminal.run("ls")


def test_a_server_that_dies_at_once_is_told_with_its_last_lines(terminal: Terminal) -> None:
    added = terminal.run("add", "dying one", "--start", "--wait", "60", "--", *DYING, code=4)
    lines = "  | line 3\n  | line 4\n  | line 5\n  whole log: mcpyard logs 'dying one'\n"
    assert lines in added
    assert lines in terminal.run("start", "dying one", code=4)
    output = terminal.run("show", "dying one")
    assert "last log lines   line 5\n" in output
    assert "line 2" not in output
    terminal.run("rm", "dying one", "--yes")


def test_hints_name_the_server(terminal: Terminal) -> None:
    terminal.run("add", "my own", "--scope", "user", "--", "run")
    terminal.run("edit", "my own", "--disable")
    assert "mcpyard edit 'my own' --enable" in terminal.run("start", "my own", code=4)
    terminal.run("rm", "my own", "--yes")


def test_a_whole_command_line_in_place_of_a_command_is_told_as_such(terminal: Terminal) -> None:
    line = "no-such-program -y @x/y"
    output = terminal.run(
        "add", "line", "--scope", "user", "--start", "--wait", "60", "--", line, code=4
    )
    assert 'The command contains spaces: use "no-such-program"' in output
    assert '"-y @x/y" into the arguments' in output
    terminal.run("rm", "line", "--yes")


def test_options_of_a_servers_command_without_the_dashes_are_told_with_them(
    terminal: Terminal,
) -> None:
    assert "mcpyard add NAME -- COMMAND" in terminal.run("add", "x", "npx", "-y", "foo", code=2)
    assert "-- COMMAND" not in terminal.run("add", "x", "--scop", "user", "npx", code=2)
    assert "-- COMMAND" not in terminal.run("ls", "-y", code=2)


def test_hints_about_other_programs_servers_fit(terminal: Terminal) -> None:
    unknown = terminal.run("copy", "--from", "clod", "--to", "codex", "one", code=2)
    assert "schema" not in unknown
    nobody = terminal.run("copy", "--from", "claude", "--to", "codex", "nobody", code=2)
    assert "hint: List the entries: mcpyard clients ls\n" in nobody
    taken = terminal.run(
        "copy", "--from", "claude", "--to", "claude", "one", "--name", "two", code=2
    )
    assert "--replace" in taken
    folder = terminal.user / FILES["gemini"]
    folder.mkdir(parents=True)
    unreadable = terminal.run("copy", "--from", "gemini", "--to", "claude", "one", code=3)
    assert f"error: {folder}: is a folder, not a file\n" in unreadable
    assert "Fix the file" not in unreadable
    folder.rmdir()


def test_a_value_that_mcpyard_cannot_have_is_not_told_as_an_unknown_field(
    terminal: Terminal,
) -> None:
    lay(terminal.user, codex='[mcp_servers.t]\ncommand = "x"\nstartup_timeout_sec = 0\nodd = 1\n')
    output = terminal.run("copy", "--from", "codex", "--to", "gemini", "t", "--dry-run")
    wrong_value = "this value is not supported by mcpyard: dropped"
    assert f"startup_timeout_sec: {wrong_value}\n" in output
    assert "odd: not supported by mcpyard: dropped" in output
    (terminal.user / FILES["codex"]).unlink()


def test_a_field_that_is_known_of_its_program_is_not_told_as_unknown(terminal: Terminal) -> None:
    text = '{"mcpServers": {"g": {"command": "run", "trust": true, "odd": 1}}}'
    lay(terminal.user, gemini=text)
    output = terminal.run("import", "--dry-run")
    assert "warning: g: trust: not supported by mcpyard: dropped\n" in output
    assert "warning: g: odd: not supported by mcpyard: dropped" in output
    (terminal.user / FILES["gemini"]).unlink()


def test_a_file_that_is_imported_is_named_in_what_is_wrong_with_it(
    terminal: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "some.json"
    file.write_text('{\n "mcpServers": {\n')
    assert f"error: {file}:2:1: " in terminal.run("import", file, code=3)


def test_what_does_not_parse_is_not_approved(terminal: Terminal, tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{\n,")
    output = terminal.run("approve", tmp_path, code=3)
    assert f"{tmp_path / '.mcp.json'}:2:1: " in output
    assert "approved" not in output


def test_where_there_is_nothing_to_approve_that_is_said(terminal: Terminal, tmp_path: Path) -> None:
    output = terminal.run("approve", tmp_path)
    assert output.startswith(f"nothing to approve in {tmp_path}\n")
    assert "that folder has no .mcp.json yet" in output


def test_a_policy_that_is_not_as_usual_is_shown(terminal: Terminal) -> None:
    text = json.dumps(
        {"name": "odd", "command": "x", "args": [], "inherit": ["Z"], "concurrency": 2}
    )
    terminal.run("add", "--json-text", text, "--scope", "user")
    output = terminal.run("show", "odd")
    assert '  inherit          ["Z"]\n  wantedConcurrency 2\n' in output
    assert "maxMessage" not in output


def test_a_registration_made_by_hand_is_said_shown_and_taken_back(terminal: Terminal) -> None:
    mine = ("--oauth", "clientId=mine", "--oauth", "clientSecret=hush-hush")
    terminal.run("add", "far", "http://127.0.0.1:9/mcp", "--scope", "user", *mine)
    oauth = json.loads(terminal.run("show", "far", "--json"))["oauth"]
    assert oauth == {"clientId": "mine", "clientSecret": {"masked": True, "hint": ""}}
    terminal.run("edit", "far", "--oauth", "clientSecret=")
    assert json.loads(terminal.run("show", "far", "--json"))["oauth"] == {"clientId": "mine"}
    assert "oauth: clientSecret requires" in terminal.run(
        "edit", "far", "--oauth", "clientId=", "--oauth", "clientSecret=x", code=3
    )


def test_a_word_before_the_dashes_is_no_command(terminal: Terminal) -> None:
    for command in ("add", "edit"):
        output = terminal.run(command, "good", "5", "--", "mcpyard-legal", code=2)
        assert 'unexpected "5" before --' in output
        assert f"hint: mcpyard {command} NAME" in output


def test_a_server_that_leads_back_here_does_not_come_up(terminal: Terminal) -> None:
    itself = (f"{terminal.up.url}/mcp", "--scope", "user")
    waiting = ("--wait", "60")
    assert "points back to this gateway (loop)" in terminal.run(
        "add", "me", *itself, "--start", *waiting, code=4
    )
    terminal.run("add", "me2", *itself, "--no-start", *waiting)


def test_where_no_tools_are_listed_it_is_said_why(terminal: Terminal) -> None:
    terminal.run(
        "add", "gone", "--scope", "user", "--start", "--wait", "60", "--", "/no/such", code=4
    )
    output = terminal.run("tools", "gone")
    assert output == 'no tools: gone is failed: command not found: "/no/such"\n'


def test_a_tool_that_is_switched_off_is_marked(terminal: Terminal) -> None:
    terminal.run("start", "good")
    path = "/api/mcp/servers/good/tools/echo"
    need_yard(terminal.up.home).patch(path, {"enabled": False}, {})
    assert "(off) Say it again." in terminal.run("tools", "good")
    assert "is disabled" in terminal.run("call", "mcp_good_echo", code=2)
    need_yard(terminal.up.home).patch(path, {"enabled": True}, {})
    assert "(off)" not in terminal.run("tools", "good")


def test_a_tool_whose_server_is_not_connected_is_marked_as_cached(terminal: Terminal) -> None:
    terminal.run("start", "good", "--wait", "60")
    assert "(cached)" not in terminal.run("tools", "good")
    terminal.run("stop", "good", "--wait", "60")
    assert "(cached) Say it again." in terminal.run("tools", "good")


def test_what_costs_nothing_is_told_only_where_the_table_is_asked_for(terminal: Terminal) -> None:
    assert "info: " not in terminal.run("connect", "codex")
    assert "info: " not in terminal.run("connect", "codex")
    terminal.run("undo")
    assert not (terminal.user / FILES["codex"]).exists(), "as other tests want to find it"


def test_the_bridge_is_written_by_name_only_where_any_program_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, usual = tmp_path / "venv" / "bin", tmp_path / "usual"
    for folder in (ours, usual):
        folder.mkdir(parents=True)
        (folder / "mcpyard").touch(0o755)
    monkeypatch.setattr(connect.sysconfig, "get_path", lambda _: str(ours))
    monkeypatch.setattr(sys, "prefix", str(ours.parent))
    bridge, home = connect.bridge_command, homes.usual_home()
    assert home

    monkeypatch.setenv("PATH", str(ours))
    assert bridge(home) == [str(ours / "mcpyard"), "stdio"]
    monkeypatch.setenv("PATH", f"{ours}:{usual}")
    assert bridge(home) == ["mcpyard", "stdio"]
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setenv("PATH", str(ours))
    assert bridge(home) == ["mcpyard", "stdio"]
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bridge(home) == [str(ours / "mcpyard"), "stdio"]
    (ours / "mcpyard").unlink()
    assert bridge(home) == [sys.executable, "-m", "mcpyard", "stdio"]
