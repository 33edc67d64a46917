"""Commands that are run in the moment in which a yard takes its home."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from mcpyard.client import discovery
from mcpyard.client.discovery import RunningYard, ask_yard, find_yard
from mcpyard.domain.errors import Disconnected, YardBusy
from mcpyard.store.home import Home, Running

URL = "http://127.0.0.1:1"


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Home]:
    """A home that somebody holds, with nothing said about where they listen."""
    monkeypatch.delenv("MCPYARD_TOKEN", raising=False)
    home = Home(tmp_path / "home")
    home.take()
    yield home
    home.release()


def at_look(monkeypatch: pytest.MonkeyPatch, which: int, happens: Callable[[], None]) -> list[int]:
    """Let something happen right before somebody looks for a yard for the so-manieth time."""
    looks: list[int] = []
    real = Home.running

    def running(home: Home) -> Running | None:
        looks.append(len(looks) + 1)
        if looks[-1] == which:
            happens()
        return real(home)

    monkeypatch.setattr(Home, "running", running)
    return looks


def take(home: Path) -> str:
    """What a command does where no yard runs."""
    mine = Home(home)
    mine.take()
    mine.release()
    return "taken"


def test_a_yard_that_is_coming_up_is_waited_for(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = at_look(monkeypatch, 3, lambda: held.announce(URL))
    assert isinstance(find_yard(held.folder), RunningYard)
    assert looks == [1, 2, 3]


def test_a_yard_that_is_gone_before_it_listens_is_none(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_look(monkeypatch, 3, held.release)
    assert find_yard(held.folder) is None


def test_who_has_no_time_is_told_at_once_that_it_is_just_starting(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = at_look(monkeypatch, 0, lambda: None)
    with pytest.raises(Disconnected, match="is still starting"):
        find_yard(held.folder, timeout=0)
    assert looks == [1]


def test_a_yard_that_took_the_home_and_said_nothing_yet_is_asked_once_it_listens(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (held.folder / "yard.json").unlink()
    at_look(monkeypatch, 3, lambda: held.announce(URL))
    answer = ask_yard(held.folder, lambda _: "asked", lambda: take(held.folder))
    assert answer == "asked"


def test_a_command_waits_for_another_one_that_holds_the_home(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (held.folder / "yard.json").unlink()
    at_look(monkeypatch, 3, held.release)
    assert ask_yard(held.folder, lambda _: "asked", lambda: take(held.folder)) == "taken"


def test_a_home_that_stays_held_in_silence_is_told(
    held: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    (held.folder / "yard.json").unlink()
    monkeypatch.setattr(discovery, "_COMING_UP", 0)
    with pytest.raises(YardBusy, match="another mcpyard process is using"):
        ask_yard(held.folder, lambda _: "asked", lambda: take(held.folder))
