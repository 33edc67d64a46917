"""References reach the environment and the user's key ring, through the real library."""

import sys
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

    def __init__(self, locked: bool = False) -> None:
        super().__init__()
        self.asked = 0
        self.locked = locked
        self.secrets = {(SERVICE, "TOKEN"): "from the ring"}

    def get_password(self, service: str, username: str) -> str | None:
        self.asked += 1
        if self.locked:
            raise KeyringLocked("nobody is here to open it")
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


def test_a_ring_that_refuses_is_told_and_has_no_value(
    ring: Ring, caplog: pytest.LogCaptureFixture
) -> None:
    ring.locked = True
    assert Variables({})("keyring:TOKEN") is None
    assert "nobody is here to open it" in caplog.text


def test_without_the_library_the_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert Variables({})("keyring:TOKEN") is None
    assert "mcpyard[keyring]" in caplog.text
