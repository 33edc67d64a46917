"""`mcpyard restore`: the backups that a yard took are listed, checked and put back."""

import asyncio
import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mcpyard.cli.checks.home_checks import examine_home
from mcpyard.cli.launcher import run
from mcpyard.store.home import Home
from mcpyard.store.sqlite.peeking import peek_definitions
from mcpyard.store.sqlite.snapshots import Snapshots
from mcpyard.store.sqlite.store import Store
from tests.api.daemon import daemon
from tests.cli.commands import answer, echo, mcpyard
from tests.store.contract import added
from tests.store.contract_access import SIGNED_IN

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
BACKUP = "state-2026-11-15.db"


class Terminal:
    """Runs the command in this process."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._home = home
        self._capsys = capsys

    def run(self, *arguments: object) -> tuple[int, str, str]:
        """The exit code of `restore` and what was printed."""
        return self.command("restore", *arguments)

    def command(self, *arguments: object) -> tuple[int, str, str]:
        """The exit code of a command and what was printed."""
        with pytest.raises(SystemExit) as ended:
            run([*map(str, arguments), "--home", str(self._home)])
        printed = self._capsys.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    def json(self, *arguments: object) -> Any:  # noqa: ANN401  any JSON
        code, out, err = self.run(*arguments, "--json")
        assert code == 0, out + err
        return json.loads(out)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(home, capsys)


def store(home: Path, *names: str) -> None:
    async def work() -> None:
        opened = await Store.open(home)
        for name in names:
            await added(opened, name, {})
        await opened.close()

    asyncio.run(work())


def names_in(home: Path) -> list[str]:
    return sorted(each.name for each in peek_definitions(home).definitions)


@pytest.mark.real
def test_a_yard_whose_state_is_gone_does_not_start_until_a_backup_is_restored(home: Path) -> None:
    with daemon(home) as it:
        it.register("one", echo(), start=False)
        assert it.up.end() == 0
    (home / "state.db").unlink()
    refused = mcpyard("up", "--port", "0", home=home)
    assert refused.returncode == 1
    assert f"{home / 'state.db'} is missing, but this home was used before" in refused.stderr
    assert "hint: Restore a backup: mcpyard restore" in refused.stderr
    (backup,) = answer("restore", home=home)
    assert (backup["servers"], backup["problem"]) == (1, None)
    answer("restore", backup["name"], "--yes", home=home)
    assert [each["name"] for each in answer("ls", home=home)] == ["one"]


def test_the_doctor_tells_of_a_state_that_is_gone_and_of_the_backups(home: Path) -> None:
    store(home, "one")
    checks = {each.check: each for each in examine_home(home)}
    assert checks["backups"].message == "none yet; mcpyard up takes one a day"
    Snapshots(home).take(NOW)
    (home / "state.db").unlink()
    checks = {each.check: each for each in examine_home(home)}
    assert checks["state"].status == "fail"
    assert "mcpyard restore" in checks["state"].fix
    assert checks["backups"].message.startswith("1, the newest of ")


def test_what_is_replaced_stays_beside_it_and_is_restored_by_its_path(
    home: Path, terminal: Terminal
) -> None:
    store(home, "one")
    Snapshots(home).take(NOW)
    store(home, "two")
    code, out, err = terminal.run("2026-11-15", "--yes")
    assert code == 0, err
    assert f"restored {home / 'backups' / BACKUP} (1 servers of the user)" in out
    assert names_in(home) == ["one"]
    (replaced,) = home.glob("state.db.replaced-*")
    assert f"the replaced state is in {replaced}" in out
    (home / "state.db").unlink()
    assert terminal.json(replaced, "--yes") == {
        "restored": str(replaced),
        "servers": 2,
        "replaced": None,
        "unreadable": [],
    }
    assert names_in(home) == ["one", "two"]
    assert not (home / "yard.json").exists()


def test_without_backups_there_is_nothing_to_list_and_nothing_is_made(
    home: Path, terminal: Terminal
) -> None:
    assert terminal.run() == (0, "", f"no backups in {home}\n")
    assert terminal.json() == []
    assert not home.exists()


def test_nothing_is_restored_while_another_holds_the_home_or_without_a_yes(
    home: Path, terminal: Terminal
) -> None:
    store(home, "one")
    Snapshots(home).take(NOW)
    before = (home / "state.db").read_bytes()
    holder = Home(home)
    holder.take()
    code, _, err = terminal.run(BACKUP, "--yes")
    assert code == 4
    assert "another mcpyard process (pid " in err
    holder.release()
    code, _, err = terminal.run(BACKUP)
    assert code == 2
    assert "hint: add --yes to do it without a question" in err
    code, _, err = terminal.run("1999-01-01", "--yes")
    assert code == 2
    assert "hint: list the backups: mcpyard restore" in err
    assert (home / "state.db").read_bytes() == before


@pytest.mark.parametrize(("reply", "names"), [(True, ["one"]), (False, ["one", "two"])])
def test_a_person_is_asked(
    home: Path,
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
    reply: bool,
    names: list[str],
) -> None:
    store(home, "one")
    Snapshots(home).take(NOW)
    store(home, "two")
    monkeypatch.setattr("mcpyard.cli.confirmation.on_terminal", lambda: True)
    monkeypatch.setattr("mcpyard.cli.confirmation.says_yes", lambda _question: reply)
    code, _, err = terminal.run(BACKUP)
    assert (code, err) == ((0, "") if reply else (1, "nothing restored\n"))
    assert names_in(home) == names


def test_a_damaged_backup_is_marked_in_the_list_and_refused(home: Path, terminal: Terminal) -> None:
    store(home, "one")
    Snapshots(home).take(NOW)
    before = (home / "state.db").read_bytes()
    damaged = home / "backups" / "state-2020-01-01.db"
    damaged.write_bytes(before[:4096] + b"\xff" * (len(before) - 4096))
    good, bad = terminal.json()
    assert (good["name"], good["servers"], good["problem"]) == (BACKUP, 1, None)
    assert bad["servers"] is None
    assert str(damaged) in bad["problem"]
    code, out, err = terminal.run()
    assert code == 0
    assert BACKUP in out
    assert "damaged" in out or "cannot be read" in out
    assert err == f"restore one: mcpyard restore {BACKUP}\n"
    code, _, err = terminal.run("2020-01-01", "--yes")
    assert code == 1
    assert str(damaged) in err
    assert (home / "state.db").read_bytes() == before


def test_the_newest_backup_that_is_not_of_the_future_is_suggested(
    home: Path, terminal: Terminal
) -> None:
    store(home, "one")
    Snapshots(home).take(NOW)
    future = home / "backups" / "state-2999-01-01.db"
    shutil.copyfile(home / "backups" / BACKUP, future)
    time = datetime(2999, 1, 1, tzinfo=UTC).timestamp()
    os.utime(future, (time, time))
    _, out, err = terminal.run()
    assert out.index(future.name) < out.index(BACKUP)
    assert err == f"restore one: mcpyard restore {BACKUP}\n"
    checks = {each.check: each for each in examine_home(home)}
    assert "the newest of 2999" not in checks["backups"].message
    # Damage leaves no other choice.
    (home / "backups" / BACKUP).write_bytes(b"damage")
    assert future.name in terminal.run()[2]


@pytest.mark.real
def test_a_backup_is_taken_while_mcpyard_runs_and_restored_elsewhere(home: Path) -> None:
    backup, other = home.with_name("backup.db"), home.with_name("other")
    with daemon(home) as it:
        it.register("one", echo(), start=False)
        made = answer("backup", backup, home=home, MCPYARD_CLUSTER="")
        assert made == {
            "file": str(backup),
            "of": "home",
            "servers": 1,
            "size": backup.stat().st_size,
        }
        assert backup.stat().st_mode & 0o777 == 0o600
        it.register("two", echo(), start=False)
    answer("restore", backup, "--yes", home=other)
    assert names_in(other) == ["one"]


def test_a_backup_overwrites_nothing_and_needs_a_folder_and_a_state(
    home: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MCPYARD_CLUSTER", raising=False)
    backup = home.with_name("backup.db")
    code, _, err = terminal.command("backup", backup)
    assert code == 1
    assert f"{home / 'state.db'} cannot be read: No such file" in err
    assert not backup.exists()
    store(home, "one")
    code, out, err = terminal.command("backup", backup)
    assert (code, err) == (0, "")
    assert out == f"backed up the state of {home} to {backup} (1 servers of the user)\n"
    before = backup.read_bytes()
    code, _, err = terminal.command("backup", backup)
    assert code == 2
    assert f"{backup} exists already" in err
    assert backup.read_bytes() == before
    code, _, err = terminal.command("backup", home / "none" / "backup.db")
    assert (code, f"the folder {home / 'none'} does not exist" in err) == (2, True)


def test_sign_ins_of_another_key_are_named(
    home: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sign_in() -> None:
        opened = await Store.open(home)
        await opened.credentials.put(SIGNED_IN)
        await opened.close()

    for name in ("MCPYARD_KEY", "MCPYARD_CLUSTER"):
        monkeypatch.delenv(name, raising=False)
    asyncio.run(sign_in())
    backup = home.with_name("backup.db")
    terminal.command("backup", backup)
    assert terminal.json(backup, "--yes")["unreadable"] == []
    (home / "key").unlink()
    code, out, _ = terminal.run(backup, "--yes")
    assert code == 0
    assert f"sealed with another key, sign in again: {SIGNED_IN.resource}\n" in out
