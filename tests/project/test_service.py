"""The yard as a service: the unit, and what systemd is told, by a systemctl that only notes it."""

import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_group

from mcpyard.cli.launcher import run
from mcpyard.cli.main import app
from mcpyard.domain import limits
from mcpyard.store.home import Home
from tests.cli.commands import Json, write_project

pytestmark = pytest.mark.real

DOCS = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
FAKE = """#!/bin/sh
echo "$*" >> {notes}
case "$2" in
  is-active) cat {state} ;;
  is-enabled) echo "Failed to get unit file state" >&2; exit 1 ;;
esac
exit 0
"""
AWAY = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n"
REFUSES = "#!/bin/sh\n[ $2 = restart ] && { echo 'Job failed.' >&2; exit 1; }\necho inactive\n"


class Machine:
    """A user's folders, with a systemctl of their own on PATH."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder = folder
        self.home = folder / "yard home"
        self.notes = folder / "notes"
        self.state = folder / "state"
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.unit = folder / "config" / "systemd" / "user" / "mcpyard.service"
        self.state.write_text("inactive\n")
        self.systemctl(FAKE.format(notes=self.notes, state=self.state))
        self._capsys = capsys
        patch.setenv("MCPYARD_HOME", str(self.home))
        patch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
        patch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")

    def systemctl(self, script: str) -> None:
        program = self.bin / "systemctl"
        program.write_text(script)
        program.chmod(0o755)

    def says(self, *words: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            run(["service", *map(str, words)])
        output = self._capsys.readouterr()
        assert ended.value.code == code, output
        return output.out

    def service(self, *words: object, code: int = 0) -> Json:
        return json.loads(self.says(*words, "--json", code=code))

    @property
    def commands(self) -> list[str]:
        return self.notes.read_text().splitlines() if self.notes.exists() else []


@pytest.fixture
def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Machine:
    return Machine(tmp_path, monkeypatch, capsys)


def exec_start(unit: str) -> list[str]:
    (line,) = [each for each in unit.splitlines() if each.startswith("ExecStart=")]
    return shlex.split(line.removeprefix("ExecStart="))


def test_install_writes_the_unit_and_starts_it(machine: Machine) -> None:
    report = machine.service("install", "--port", "9001")
    assert report["installed"] == str(machine.unit)
    assert stat.S_IMODE(machine.unit.stat().st_mode) == 0o600
    assert exec_start(machine.unit.read_text()) == [
        *(sys.executable, "-P", "-m", "mcpyard", "up"),
        *("--home", str(machine.home), "--port", "9001"),
    ]
    assert f"Environment=PATH={os.environ['PATH']}\n" in machine.unit.read_text()
    assert machine.commands[-3:] == [
        "--user daemon-reload",
        "--user enable mcpyard.service",
        "--user restart mcpyard.service",
    ]
    assert [each.name for each in machine.unit.parent.iterdir()] == [machine.unit.name]


def test_the_command_of_the_unit_is_one_that_mcpyard_takes(machine: Machine) -> None:
    project = write_project(machine.folder / "my $project 100%")
    unit = machine.service("install", "--print", "--project", project)["unit"]
    assert exec_start(unit)[-1].endswith("my $$project 100%%"), "as systemd wants them written"
    words = [each.replace("$$", "$").replace("%%", "%") for each in exec_start(unit)]
    up = get_group(app).commands["up"].make_context("up", words[5:])
    assert (up.params["home"], up.params["project"]) == (machine.home, project)


def test_systemd_restarts_a_service_that_no_longer_answers_it(machine: Machine) -> None:
    lines = machine.says("install", "--print").splitlines()
    expected = {"Type=notify", "WatchdogSec=60", "Restart=on-failure", "Delegate=memory pids"}
    assert expected <= {*lines}
    assert limits.STUCK_RESTART > limits.STUCK_END, "ours comes first, and says why"


RESTRICTING = re.compile(
    r"^(NoNewPrivileges|LockPersonality|MemoryDenyWriteExecute|Private\w+|Protect\w+|Proc\w+|UMask"
    r"|Restrict(?!Prevent)\w+|SystemCall\w+|CapabilityBoundingSet|KeyringMode|IPAddress\w+|Device\w+"
    r"|(ReadOnly|ReadWrite|Inaccessible|NoExec)Paths|Root\w+|RemoveIPC|TasksMax|Memory\w+)=",
    re.MULTILINE,
)
"""Settings that a server would inherit and could not lift."""


def test_the_unit_is_hardened_only_by_what_restricts_no_server(machine: Machine) -> None:
    unit = machine.says("install", "--print")
    assert {"NotifyAccess=main", "OOMPolicy=continue"} <= {*unit.splitlines()}
    assert "LimitCORE=0:infinity" in unit, "a server may raise it again"
    assert not RESTRICTING.search(unit)


def test_systemd_takes_the_unit_and_its_exposure_is_documented(machine: Machine) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return
    unit = machine.folder / "mcpyard.service"
    unit.write_text(machine.says("install", "--print"))
    for words in (["--user", "verify"], ["security", "--offline=true", "--no-pager"]):
        done = subprocess.run(
            [analyze, *words, str(unit)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"XDG_RUNTIME_DIR": str(machine.folder)},
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    exposure = re.search(r"exposure level for mcpyard.service: ([\d.]+)", done.stdout)
    version = subprocess.run([analyze, "--version"], capture_output=True, text=True, check=True)
    assert exposure
    documented = re.search(r"\((systemd \d+)\) gives the unit the exposure level ([\d.]+)", DOCS)
    assert documented
    # Other versions rate other settings.
    if version.stdout.startswith(f"{documented[1]} "):
        assert exposure[1] == documented[2]


def test_print_changes_nothing(machine: Machine) -> None:
    unit = machine.says("install", "--print")
    assert unit.startswith("# Written by")
    assert unit.endswith("WantedBy=default.target\n")
    assert not machine.unit.exists()
    assert machine.commands == []
    assert machine.service("status", "--print", code=2)["error"]["detail"].startswith("--print")


def test_install_anew_replaces_the_unit(machine: Machine) -> None:
    machine.service("install", "--port", "9001")
    machine.state.write_text("active\n")
    machine.service("install", "--port", "9002")
    assert "9002" in machine.unit.read_text()


SECRETS = {"MCPYARD_CLUSTER": "postgresql://u:pa$$w%@127.0.0.1/db", "MCPYARD_KEY": 'a "`k\\ $HOME'}
NODE = ["--node", "n1", "--node-listen", "127.0.0.1:8722", "--label", "gpu=yes"]


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)


def environment_of(file: Path) -> dict[str, str]:
    """What systemd reads from a file: quoted values, in which a backslash escapes."""
    lines = [each for each in file.read_text().splitlines() if not each.startswith("#")]
    pairs = [each.split("=", 1) for each in lines]
    assert all(re.fullmatch(r'"(\\["\\$`]|[^"\\$`])*"', value) for _, value in pairs)
    return {name: re.sub(r"\\(.)", r"\1", value[1:-1]) for name, value in pairs}


@pytest.mark.usefixtures("secrets")
def test_a_node_gets_its_secrets_from_a_file_that_only_its_user_reads(machine: Machine) -> None:
    certs = machine.folder / "certs"
    report = machine.service("install", *NODE, "--node-certs", certs)
    unit, file = machine.unit.read_text(), Path(report["secrets"])
    assert f"EnvironmentFile={file}\n" in unit
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert environment_of(file) == SECRETS
    assert not any(value in unit for value in SECRETS.values())
    up = get_group(app).commands["up"].make_context("up", exec_start(unit)[5:]).params
    assert (up["node"], up["node_certs"], up["label"]) == ("n1", certs, ["gpu=yes"])
    machine.service("uninstall")
    assert not file.exists()


@pytest.mark.usefixtures("secrets")
def test_a_node_with_a_file_for_the_address_keeps_the_address_there(machine: Machine) -> None:
    dsn = machine.folder / "dsn"
    dsn.write_text(SECRETS["MCPYARD_CLUSTER"])
    node = [*NODE, "--node-certs", "certs"]
    report = machine.service("install", *node, "--cluster", dsn)
    assert environment_of(Path(report["secrets"])) == {"MCPYARD_KEY": SECRETS["MCPYARD_KEY"]}
    words = exec_start(machine.unit.read_text())
    assert words[words.index("--cluster") + 1] == str(dsn)
    # The same service for one machine needs no secrets any more.
    assert "secrets" not in machine.service("install")
    assert not Path(report["secrets"]).exists()
    assert "EnvironmentFile" not in machine.unit.read_text()


@pytest.mark.usefixtures("secrets")
def test_systemd_takes_the_unit_of_a_node(machine: Machine) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        return
    unit = machine.folder / "mcpyard.service"
    unit.write_text(machine.says("install", "--print", *NODE, "--node-certs", "certs"))
    command = [analyze, "--user", "verify", str(unit)]
    environment = os.environ | {"XDG_RUNTIME_DIR": str(machine.folder)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_node_without_its_key_is_not_installed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_CLUSTER", SECRETS["MCPYARD_CLUSTER"])
    monkeypatch.delenv("MCPYARD_KEY", raising=False)
    node = [*NODE, "--node-certs", "certs"]
    assert machine.service("install", *node, code=2)["error"]["detail"] == "MCPYARD_KEY is not set"
    monkeypatch.setenv("MCPYARD_KEY", "two\nlines")
    assert "control characters" in machine.service("install", *node, code=2)["error"]["detail"]
    assert not machine.unit.exists()


def test_uninstall_ends_the_service_and_takes_the_unit_away(machine: Machine) -> None:
    machine.service("install")
    assert machine.service("uninstall") == {"uninstalled": str(machine.unit)}
    assert not machine.unit.exists()
    assert machine.commands[-2:] == [
        "--user disable --now mcpyard.service",
        "--user daemon-reload",
    ]
    assert machine.service("uninstall")["uninstalled"] is None


def test_status_tells_how_the_service_is_and_where_the_yard(machine: Machine) -> None:
    nothing = machine.service("status", code=4)
    assert nothing == {"unit": None, "enabled": "not-found", "active": "inactive", "yard": None}
    machine.service("install")
    machine.state.write_text("active\n")
    yard = Home(machine.home)
    yard.take()
    yard.announce("http://127.0.0.1:8712")
    report = machine.service("status")
    yard.release()
    assert (report["active"], report["yard"]) == ("active", "http://127.0.0.1:8712")


def test_a_unit_of_somebody_else_is_left_alone(machine: Machine) -> None:
    machine.unit.parent.mkdir(parents=True)
    machine.unit.write_text("[Unit]\n")
    for action in ("install", "uninstall"):
        assert "left unchanged" in machine.service(action, code=1)["error"]["detail"]
    assert machine.unit.read_text() == "[Unit]\n"


def test_a_home_that_a_yard_holds_gets_no_service_beside_it(machine: Machine) -> None:
    yard = Home(machine.home)
    yard.take()
    assert "stop it first" in machine.service("install", code=4)["error"]["detail"]
    yard.release()
    assert not machine.unit.exists()


@pytest.mark.parametrize("action", ["install", "status"])
def test_where_systemd_does_not_answer_it_is_said_and_nothing_written(
    machine: Machine, action: str
) -> None:
    machine.systemctl(AWAY)
    error = machine.service(action, code=4)["error"]
    assert error["type"] == "urn:mcpyard:error:no-systemd"
    assert "No medium found" in error["detail"]
    assert "--print" in error["hint"]
    assert not machine.unit.exists()


def test_where_systemd_is_not_there_it_is_said(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(machine.folder))
    error = machine.service("install", code=4)["error"]
    assert "systemctl not found" in error["detail"]


def test_a_service_that_does_not_start_is_told_with_what_to_do(machine: Machine) -> None:
    machine.systemctl(REFUSES)
    error = machine.service("install", code=1)["error"]
    assert error["detail"].endswith("restart mcpyard.service: Job failed.")
    assert "journalctl" in error["hint"]
