"""The last lines of a server's standard error, without the secrets it was given."""

import sys

import pytest

from mcpyard import Yard
from mcpyard.domain.errors import StartFailed
from mcpyard.runtime.stderr import StderrRing
from mcpyard.testing import ManualClock

TELLS = (
    "import os, sys; sys.exit('refused: ' + os.environ['API_KEY'] + ' for ' + os.environ['WHO'])"
)


def texts(ring: StderrRing) -> list[str]:
    return [each.text for each in ring.lines()]


def test_secrets_are_masked_in_lines_and_in_the_tail() -> None:
    ring = StderrRing(ManualClock())
    ring.add([b"before: secret"])
    ring.keep_secret(["secret", "secret-and-more"])
    ring.add([b"a secret-and-more", b"bad \xff secret"])
    assert texts(ring) == ["before: secret", "a ***", "bad \N{REPLACEMENT CHARACTER} ***"]
    assert ring.tail(1) == ("a ***", "bad \N{REPLACEMENT CHARACTER} ***")


def test_what_was_secret_before_a_change_stays_so() -> None:
    ring = StderrRing(ManualClock())
    ring.keep_secret(["first one"])
    ring.keep_secret(["second"])
    ring.add([b"first one, second"])
    assert texts(ring) == ["***, ***"]


@pytest.mark.real
async def test_a_server_that_tells_its_key_is_not_quoted_with_it() -> None:
    environment = {"API_KEY": "${KEY}", "WHO": "somebody"}
    tells = {"command": sys.executable, "args": ["-I", "-S", "-c", TELLS], "env": environment}
    async with Yard.open(environment={"KEY": "k-123456"}) as yard:
        with pytest.raises(StartFailed) as refused:
            await yard.trial(tells)
    assert refused.value.cause
    assert refused.value.cause.stderr == ("refused: *** for somebody",)
