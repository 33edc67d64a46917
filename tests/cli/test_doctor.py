"""`mcpyard doctor`: a finding for everything, a fix for everything that is not well."""

import subprocess
from pathlib import Path

import pytest

from tests.api.daemon import daemon
from tests.cli.commands import (
    MCPYARD,
    Json,
    answer,
    echo,
    mcpyard,
    missing,
    write_project,
    yard_up,
)

pytestmark = pytest.mark.real

STATUSES = {"ok", "warn", "fail"}


def findings(*arguments: object, home: Path, code: int, **env: str) -> dict[str, Json]:
    report = answer("doctor", *arguments, home=home, code=code, cwd=None, **env)
    assert report["ok"] is (code == 0)
    for each in report["findings"]:
        assert each["status"] in STATUSES
        assert each["message"]
        assert "\n" not in each["fix"]
        assert bool(each["fix"]) is (each["status"] != "ok")
    return {each["check"]: each for each in report["findings"]}


def program(folder: Path, name: str, script: str, interpreter: str = "/bin/sh") -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!{interpreter}\n{script}\n")
    (folder / name).chmod(0o755)


def test_programs_are_found_with_their_versions_or_with_a_fix(tmp_path: Path) -> None:
    program(tmp_path / "bin", "node", "echo v22.2.3; echo more")
    program(tmp_path / "bin", "npx", "exit 7")
    program(tmp_path / "bin", "docker", "", interpreter="/no/such/shell")
    program(tmp_path / "bin", "uvx", "/bin/sleep 60")
    checks = findings(home=tmp_path / "home", code=1, PATH=str(tmp_path / "bin"))
    assert checks["python"]["status"] == "ok"
    assert checks["node"]["message"] == f"v22.2.3 at {tmp_path / 'bin' / 'node'}"
    assert checks["npx"]["message"].endswith("exited with code 7")
    assert "did not finish in 5 s" in checks["uvx"]["message"]
    assert checks["docker"]["status"] == "fail"
    assert checks["keeper"]["status"] == "ok"
    assert checks["yard"]["message"] == "not running"
    assert not (tmp_path / "home").exists()


def test_a_program_that_is_not_there_is_no_failure(tmp_path: Path) -> None:
    checks = findings(home=tmp_path / "home", code=0, PATH=str(tmp_path))
    for name in ("node", "npx", "uvx", "docker"):
        assert (checks[name]["status"], checks[name]["message"]) == ("warn", "not found on PATH")


def test_servers_of_a_named_project_are_tried(tmp_path: Path) -> None:
    project = write_project(
        tmp_path / "p",
        good=echo(),
        bad=missing(tmp_path),
        unset=echo(env={"A": "${SURELY_NOT_SET}"}),
        odd={"command": 5},
        off=echo(enabled=False),
    )
    checks = findings("--project", project, home=tmp_path / "home", code=1)
    assert checks["server good"]["message"].startswith("connected in ")
    assert checks["server good"]["message"].endswith("7 tools")
    assert checks["server bad"]["status"] == "fail"
    assert "SURELY_NOT_SET is not set" in checks["variables of unset"]["message"]
    assert "odd" in checks["project file"]["message"]
    assert "server off" not in checks


def test_servers_of_a_found_project_are_not_started(tmp_path: Path) -> None:
    trace = {"command": "touch", "args": [str(tmp_path / "trace")], "transport": "stdio"}
    write_project(tmp_path, trace=trace)
    checks = findings(home=tmp_path / "home", code=0)
    assert checks["servers"]["message"] == "1 not started: approval needed"
    assert f"mcpyard approve {tmp_path}" in checks["servers"]["fix"]
    assert not (tmp_path / "trace").exists()


def test_a_file_that_does_not_parse_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    checks = findings(home=tmp_path / "home", code=1)
    assert checks["project file"]["status"] == "fail"
    assert ".mcp.json:1:" in checks["project file"]["message"]


def test_a_wrong_variable_is_a_finding(tmp_path: Path) -> None:
    checks = findings(home=tmp_path / "home", code=1, X_MCP_SERVER_URL="prog", X_MCP_TIMEOUT="soon")
    assert "X_MCP_TIMEOUT" in checks["environment"]["message"]


def test_a_home_below_a_file_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    checks = findings("--home", tmp_path / "file" / "home", home=tmp_path / "x", code=1)
    assert checks["home"]["status"] == "fail"


def test_a_state_that_cannot_be_read_is_a_finding_and_the_rest_is_looked_at(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "state.db").write_bytes(b"no database at all, but long enough to be looked at" * 99)
    write_project(tmp_path, one=echo())
    checks = findings(home=home, code=1)
    assert checks["state"]["status"] == "fail"
    assert f"{home / 'state.db'} cannot be read" in checks["state"]["message"]
    assert checks["home"]["status"] == "ok"
    assert checks["servers"]["message"] == "1 not started: approval needed"


def test_damage_inside_the_state_is_a_finding(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with yard_up(home) as up:
        up.end()
    content = (home / "state.db").read_bytes()
    (home / "state.db").write_bytes(content[:8192] + b"\xff" * (len(content) - 8192))
    assert findings(home=home, code=1)["state"]["status"] == "fail"


def test_the_state_of_a_running_yard_is_looked_at_without_harm(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as it:
        it.register("one", echo(), start=False)
        checks = findings(home=home, code=0)
        assert checks["state"]["message"] == f"{home / 'state.db'} is readable"
        it.register("two", echo(), start=False)
    names = [each["name"] for each in answer("ls", home=home)]
    assert names == ["one", "two"]


def test_a_home_on_a_full_disk_is_a_finding(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    result = subprocess.run(
        ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *MCPYARD, "doctor", "--home", home],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert result.returncode == 1
    assert f"{home} is not writable: File too large" in result.stdout
    assert [*home.iterdir()] == []


@pytest.mark.parametrize(("name", "then"), [("token", ", then mcpyard token rotate"), ("key", "")])
def test_a_secret_of_the_home_that_others_can_access_is_a_finding(
    tmp_path: Path, name: str, then: str
) -> None:
    home = tmp_path / "my home"
    home.mkdir(mode=0o700)
    file = home / name
    file.write_text("x" * 43)
    for mode in (0o644, 0o640):
        file.chmod(mode)
        check = findings(home=home, code=0)[name]
        assert check["status"] == "warn"
        assert check["message"] == f"other users can access {file} (mode {mode:04o})"
        assert check["fix"] == f"chmod 600 '{file}'{then}"
    file.chmod(0o600)
    assert name not in findings(home=home, code=0)


@pytest.mark.parametrize(("needed", "status"), [(False, "warn"), (True, "fail")])
def test_a_node_that_is_too_old_is_a_finding(tmp_path: Path, needed: bool, status: str) -> None:
    program(tmp_path / "bin", "node", "echo v12.22.9")
    if needed:
        write_project(tmp_path, one={"command": "npx", "args": ["-y", "x"], "transport": "stdio"})
    checks = findings(home=tmp_path / "home", code=int(needed), PATH=str(tmp_path / "bin"))
    assert checks["node"]["status"] == status
    assert "v12.22.9" in checks["node"]["message"]
    assert checks["node"]["fix"] == "install Node.js 18 or newer"


def test_people_get_a_table(tmp_path: Path) -> None:
    lines = mcpyard("doctor", home=tmp_path / "home").stdout.splitlines()
    assert lines[0].split() == ["STATUS", "CHECK", "RESULT", "FIX"]
    assert all(line.split()[0] in STATUSES for line in lines[1:])
