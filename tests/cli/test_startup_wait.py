"""What `up` does about a home that another yard is just leaving, or that cannot be one."""

import os
import socket
from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.daemon import startup_wait
from mcpyard.cli.daemon.startup_wait import await_predecessor, make_home
from mcpyard.store.home import Home, Running


@pytest.fixture
def held(tmp_path: Path) -> Generator[Home]:
    home = Home(tmp_path / "home")
    home.take()
    yield home
    home.release()


@pytest.fixture
def looks(held: Home, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The looks at the home, which is let go right before the fourth."""
    numbers: list[int] = []
    real = Home.running

    def running(home: Home) -> Running | None:
        numbers.append(len(numbers) + 1)
        if len(numbers) == 4:
            held.release()
        return real(home)

    monkeypatch.setattr(Home, "running", running)
    return numbers


def test_a_yard_that_listens_no_more_is_waited_for_and_that_is_said(
    held: Home, looks: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    held.announce(f"http://127.0.0.1:{port}")
    await_predecessor(held.folder)
    assert looks == [1, 2, 3, 4]
    assert capsys.readouterr().err == f"waiting for mcpyard (pid {os.getpid()}) to stop\n"
    Home(held.folder).take()


def test_a_yard_that_never_ends_is_not_waited_for_without_end(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup_wait, "SHUTDOWN", 0)
    monkeypatch.setattr(startup_wait, "_GRACE", 0)
    held.announce("http://127.0.0.1:1")
    await_predecessor(held.folder)
    assert held.running() is not None


def test_a_yard_that_answers_or_is_coming_up_is_not_waited_for(
    held: Home, looks: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    await_predecessor(held.folder)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        held.announce(f"http://127.0.0.1:{listening.getsockname()[1]}")
        await_predecessor(held.folder)
    assert (looks, capsys.readouterr().err) == ([1, 2], "")


def test_a_home_that_cannot_be_made_or_written_to_is_told_with_the_option_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CliError, match="Not a directory") as raised:
        make_home(tmp_path / "file" / "home")
    assert "--home" in str(raised.value.problem["hint"])

    def closed(path: Path, mode: int) -> bool:
        return path != tmp_path or not mode & os.W_OK

    monkeypatch.setattr(os, "access", closed)
    with pytest.raises(CliError, match="not writable"):
        make_home(tmp_path)
