"""`mcpyard restore`: the backups that a yard took are listed, checked and put back."""

from pathlib import Path

import pytest

from tests.api.daemon import daemon
from tests.cli.commands import answer, echo, mcpyard

pytestmark = pytest.mark.real


def used(home: Path, *names: str) -> None:
    with daemon(home) as it:
        for name in names:
            it.register(name, echo(), start=False)
        assert it.up.end() == 0


def names_in(home: Path) -> list[str]:
    return [each["name"] for each in answer("ls", home=home)]


def test_a_state_that_is_gone_is_an_error_until_a_backup_is_restored(tmp_path: Path) -> None:
    home = tmp_path / "home"
    used(home, "one", "two")
    (home / "state.db").unlink()
    for command in (["up", "--port", "0"], ["ls"], ["show", "one"]):
        refused = mcpyard(*command, home=home)
        assert refused.returncode == 1, refused.stdout
        assert f"{home / 'state.db'} is missing, but this home was used before" in refused.stderr
        assert "hint: Restore a backup: mcpyard restore" in refused.stderr
    doctor = answer("doctor", home=home, code=1)["findings"]
    checks = {each["check"]: each for each in doctor}
    assert checks["state"]["status"] == "fail"
    assert "mcpyard restore" in checks["state"]["fix"]
    assert checks["backups"]["message"].startswith("1, the newest of ")
    (backup,) = answer("restore", home=home)
    assert (backup["servers"], backup["problem"]) == (2, None)
    done = answer("restore", backup["name"], "--yes", home=home)
    assert done == {
        "restored": str(home / "backups" / backup["name"]),
        "servers": 2,
        "replaced": None,
    }
    assert names_in(home) == ["one", "two"]
    used(home, "three")
    assert names_in(home) == ["one", "three", "two"]


def test_what_is_replaced_stays_beside_it_and_is_restored_by_its_path(tmp_path: Path) -> None:
    home, copy = tmp_path / "home", tmp_path / "copy.db"
    used(home, "one")
    (backup,) = (home / "backups").iterdir()
    copy.write_bytes(backup.read_bytes())
    used(home, "two")
    done = mcpyard("restore", copy, "--yes", home=home)
    assert done.returncode == 0, done.stderr
    assert f"restored {copy} (1 servers of the user)" in done.stdout
    assert names_in(home) == ["one"]
    (replaced,) = home.glob("state.db.replaced-*")
    assert f"the replaced state is in {replaced}" in done.stdout
    answer("restore", replaced, "--yes", home=home)
    assert names_in(home) == ["one", "two"]


def test_nothing_is_restored_while_mcpyard_runs_without_a_yes_or_from_a_bad_file(
    tmp_path: Path,
) -> None:
    home, bad = tmp_path / "home", tmp_path / "bad.db"
    assert mcpyard("restore", home=home).stderr == f"no backups in {home}\n"
    assert answer("restore", home=home) == []
    assert not home.exists()
    used(home, "one")
    before = (home / "state.db").read_bytes()
    (backup,) = answer("restore", home=home)
    with daemon(home) as it:
        refused = mcpyard("restore", backup["name"], "--yes", home=home)
        assert refused.returncode == 4
        assert f"another mcpyard process (pid {it.up.process.pid}" in refused.stderr
        assert it.up.end() == 0
    asked = mcpyard("restore", backup["name"], home=home)
    assert asked.returncode == 2
    assert "add --yes to do it without a question" in asked.stderr
    bad.write_bytes(before[:4096] + b"\xff" * (len(before) - 4096))
    damaged = mcpyard("restore", bad, "--yes", home=home)
    assert damaged.returncode == 1
    assert str(bad) in damaged.stderr
    unknown = mcpyard("restore", "1999-01-01", "--yes", home=home)
    assert unknown.returncode == 2
    assert "hint: list the backups: mcpyard restore" in unknown.stderr
    assert (home / "state.db").read_bytes() == before
    (home / "backups" / "state-2020-01-01.db").write_bytes(b"no database" * 500)
    listed = mcpyard("restore", home=home)
    assert backup["name"] in listed.stdout
    assert "cannot be read" in listed.stdout
