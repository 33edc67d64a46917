"""References reach the environment and the user's key ring, through the real library."""

import asyncio
import sys
import threading
from collections.abc import Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

from mcpyard.runtime import variables
from mcpyard.runtime.variables import SERVICE, Variables


class Ring(KeyringBackend):
    """A key ring in memory, which counts the questions."""

    priority = 1.0  # pyright: ignore[reportAssignmentType]  a plain number is what the library asks for

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.fault: Exception | None = None
        self.unlocked = threading.Event()
        self.unlocked.set()
        self.secrets = {(SERVICE, "TOKEN"): "from the ring"}

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        assert self.unlocked.wait(10)
        if self.fault:
            raise self.fault
        return self.secrets.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.secrets[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.secrets[service, username]


@pytest.fixture(autouse=True)
def ring() -> Iterator[Ring]:
    before = keyring.get_keyring()
    made = Ring()
    keyring.set_keyring(made)
    yield made
    made.unlocked.set()
    keyring.set_keyring(before)


def test_an_ordinary_name_is_looked_up_in_the_environment(ring: Ring) -> None:
    look_up = Variables({"A": "1"})
    assert (look_up("A"), look_up("B")) == ("1", None)
    assert ring.asked == 0


def test_a_name_of_the_key_ring_is_asked_there_and_not_again_at_once(ring: Ring) -> None:
    look_up = Variables({"keyring:TOKEN": "not this one"})
    assert [look_up("keyring:TOKEN") for _ in range(3)] == ["from the ring"] * 3
    assert ring.asked == 1


def test_a_changed_secret_is_seen_when_the_kept_one_is_old(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variables, "_KEPT", 0.0)
    look_up = Variables({})
    assert look_up("keyring:NEW") is None
    ring.set_password(SERVICE, "NEW", "there now")
    assert look_up("keyring:NEW") == "there now"


LOCKED = KeyringLocked("nobody is here to open it")


@pytest.mark.parametrize("fault", [LOCKED, OSError("the bus is gone")], ids=["its own", "another"])
def test_a_ring_that_refuses_is_told_and_has_no_value(
    ring: Ring, caplog: pytest.LogCaptureFixture, fault: Exception
) -> None:
    ring.fault = fault
    assert Variables({})("keyring:TOKEN") is None
    assert str(fault) in caplog.text


def test_a_ring_that_is_locked_for_a_moment_takes_no_value_away(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(variables, "_KEPT", 0.0)
    look_up = Variables({})
    assert look_up("keyring:TOKEN") == "from the ring"
    ring.fault = LOCKED
    assert look_up("keyring:TOKEN") == "from the ring"
    assert ring.asked == 2


def test_a_ring_that_refused_is_soon_asked_again(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(variables.time, "monotonic", lambda: now)
    look_up = Variables({})
    ring.fault = LOCKED
    assert [look_up("keyring:TOKEN"), look_up("keyring:TOKEN")] == [None, None]
    assert ring.asked == 1
    ring.fault = None
    now += 5
    assert look_up("keyring:TOKEN") == "from the ring"


async def test_the_loop_does_not_wait_for_a_ring(ring: Ring) -> None:
    ring.unlocked.clear()
    look_up, notice = Variables({}), asyncio.Event()
    look_up.changed = notice.set
    assert [look_up("keyring:TOKEN"), look_up("keyring:TOKEN")] == [None, None]
    assert {*look_up.awaited} == {"keyring:TOKEN"}
    assert not notice.is_set()
    ring.unlocked.set()
    await look_up.answered()
    assert notice.is_set()
    assert look_up("keyring:TOKEN") == "from the ring"
    assert (ring.asked, {*look_up.awaited}) == (1, set())


async def test_an_answer_that_nobody_waits_for_any_more_is_welcome(
    ring: Ring, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(variables, "_ANSWER_TIMEOUT", 0.0)
    monkeypatch.setattr(variables, "_SHUNNED", 0.0)
    ring.unlocked.clear()
    look_up, notice = Variables({}), asyncio.Event()
    assert look_up("keyring:TOKEN") is None
    await look_up.answered()
    assert "does not answer" in caplog.text
    look_up.changed = notice.set
    assert look_up("keyring:TOKEN") is None
    assert not look_up.awaited, "the user is asked to unlock it once"
    ring.unlocked.set()
    await notice.wait()
    assert look_up("keyring:TOKEN") == "from the ring"


def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert Variables({})("keyring:TOKEN") is None
    assert "mcpyard[keyring]" in caplog.text
