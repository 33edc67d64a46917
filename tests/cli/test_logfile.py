"""The log file of a yard: bounded, its owner's alone, without secrets."""

import json
import logging
import stat
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from mcpyard.api.rolling_file import KEPT
from mcpyard.cli.daemon.logfile import LogFile, Redactor
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.desired import Definition, Desired, DesireInputs, Document, Owner
from mcpyard.domain.desiring import desire
from mcpyard.domain.model import LocalConfig, Scope
from tests.cli.commands import echo, write_project, yard_up

if TYPE_CHECKING:
    from _collections_abc import dict_items

LITERAL = "sk-1234567890abcdef"


def desired(**environment: str) -> Desired:
    config = LocalConfig(command=["server"], environment=environment)
    owner = Owner(Scope.CODE, "here")
    document = Document(owner, (Definition("a", config),))
    return desire([document], DesireInputs({(owner, "a"): uuid4()}, {}.get))


def written(handler: LogFile, folder: Path, message: str) -> str:
    """What stands in the file after this message."""
    handler.emit(logging.makeLogRecord({"msg": message, "levelname": "INFO"}))
    return (folder / "yard.log").read_text()


def test_the_file_is_its_owners_alone_and_has_time_level_and_words(tmp_path: Path) -> None:
    text = written(LogFile(tmp_path, Redactor()), tmp_path, "all is well")
    assert stat.S_IMODE((tmp_path / "yard.log").stat().st_mode) == 0o600
    assert text[:4].isdigit()
    assert text.endswith("Z INFO all is well\n")


def test_a_full_file_makes_room_and_only_so_many_are_kept(tmp_path: Path) -> None:
    handler = LogFile(tmp_path, Redactor(), limit=200)
    for number in range(100):
        written(handler, tmp_path, f"line {number}")
    names = sorted(each.name for each in tmp_path.iterdir())
    assert names == ["yard.log", *(f"yard.log.{number}" for number in range(1, KEPT + 1))]
    assert all(each.stat().st_size <= 200 for each in tmp_path.iterdir())
    assert "line 99" in (tmp_path / "yard.log").read_text()


def test_secrets_of_the_yard_and_of_its_servers_are_masked(tmp_path: Path) -> None:
    redactor = Redactor()
    handler = LogFile(tmp_path, redactor)
    redactor.own = frozenset({"admin-token"})
    servers = [desired(API_KEY=LITERAL), desired()]
    redactor.desired = lambda: servers[0]
    text = written(handler, tmp_path, f"with {LITERAL} and admin-token")
    assert text.endswith("with *** and ***\n")
    servers.reverse()
    assert LITERAL not in written(handler, tmp_path, f"{LITERAL} of a server that is gone")


class Variables(dict[str, str]):
    """The environment of a launch, which counts how often it is read."""

    reads = 0

    def items(self) -> "dict_items[str, str]":
        self.reads += 1
        return super().items()


def test_a_change_of_one_server_of_many_reads_no_other_for_its_secrets(tmp_path: Path) -> None:
    redactor = Redactor()
    handler = LogFile(tmp_path, redactor)
    environment = Variables(API_KEY=LITERAL)
    [server] = desired().servers.values()
    server = replace(server, launch=LocalLaunch(("server",), environment, None, ()))
    others = [each for _ in range(3) for each in desired(MY_KEY="another-secret").servers.values()]
    now, text = Desired({}), ""
    redactor.desired = lambda: now
    for count in range(len(others) + 1):
        now = Desired({each.id: each for each in (server, *others[:count])})
        text = written(handler, tmp_path, f"{LITERAL} or another-secret of {count} others")
    assert text.endswith("*** or *** of 3 others\n")
    assert environment.reads == 1


@pytest.mark.parametrize(
    ("message", "masked"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("at http://me:hunter2@host/x now", "at http://me:***@host/x now"),
        ("at http://host/x?token=abc now", "at http://host/x?token=*** now"),
        ("at http://127.0.0.1:8712 me@host", "at http://127.0.0.1:8712 me@host"),
    ],
)
def test_what_looks_like_a_secret_is_masked(tmp_path: Path, message: str, masked: str) -> None:
    assert written(LogFile(tmp_path, Redactor()), tmp_path, message).endswith(f" {masked}\n")


def test_a_text_cannot_forge_a_record_or_paint_a_terminal(tmp_path: Path) -> None:
    text = written(LogFile(tmp_path, Redactor()), tmp_path, "a\n2026-01-01 ERROR b\x1b[31m")
    assert text.splitlines()[1] == "    2026-01-01 ERROR b\N{REPLACEMENT CHARACTER}[31m"


def test_a_file_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    handler = LogFile(home, Redactor())
    handler.emit(logging.makeLogRecord({"msg": "lost"}))
    home.mkdir()
    (line,) = written(handler, home, "kept").splitlines()
    assert line.endswith("kept")


@pytest.mark.real
def test_up_tells_its_log_what_its_servers_do_and_never_their_secrets(tmp_path: Path) -> None:
    broken = {"command": f"/nowhere/{LITERAL}", "args": [], "env": {"API_KEY": LITERAL}}
    project = write_project(tmp_path / "p", good=echo(), odd=broken)
    with yard_up(tmp_path / "home", "--project", project, "--log-level", "debug") as up:
        waited_for = {("good", "connected"), ("odd", "error")}
        while waited_for:
            event = json.loads(up.line())
            waited_for.discard((event.get("name"), event.get("status")))
        assert up.end() == 0
        errors = up.errors()
    text = (tmp_path / "home" / "yard.log").read_text()
    assert f"at {up.url} (pid {up.process.pid})" in text
    assert "connected      good" in text
    assert 'ERROR odd: command not found: "/nowhere/***"' in text
    assert text.endswith("INFO ended\n")
    assert LITERAL not in text + errors


@pytest.mark.real
def test_the_log_level_says_how_much_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A watchdog keeps the file open, to write stacks to it.
    monkeypatch.setenv("MCPYARD_WATCHDOG", "0")
    with yard_up(tmp_path / "home", "--log-level", "error") as up:
        assert up.end() == 0
    assert not (tmp_path / "home" / "yard.log").exists()


def test_a_file_that_was_moved_away_is_begun_anew_and_a_link_is_not_followed(
    tmp_path: Path,
) -> None:
    handler, path = LogFile(tmp_path, Redactor()), tmp_path / "yard.log"
    assert "first" in written(handler, tmp_path, "first")
    path.rename(tmp_path / "moved.log")
    assert "first" not in written(handler, tmp_path, "second")
    path.unlink()
    assert "second" not in written(handler, tmp_path, "third")
    path.unlink()
    path.symlink_to(tmp_path / "moved.log")
    assert "fourth" not in written(handler, tmp_path, "fourth")
    assert (tmp_path / "moved.log").read_text().count("\n") == 1
