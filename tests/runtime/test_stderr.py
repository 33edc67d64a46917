"""The last lines of a server's standard error, without the secrets it was given."""

import sys

import pytest

from mcpyard import Yard
from mcpyard.domain import limits
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


def test_a_private_key_is_masked_in_all_its_lines() -> None:
    ring = StderrRing(ManualClock())
    begin, end = b"-----BEGIN RSA PRIVATE KEY-----", b"-----END RSA PRIVATE KEY-----"
    ring.add([b"key: " + begin, b"MIIEpAIB", b"abc="])
    ring.add([b"def=", end, b"after"])
    assert texts(ring) == ["key: ***", "***", "***", "***", end.decode(), "after"]
    ring.add([begin, *[b"x"] * 300])
    assert texts(ring)[-101:] == ["***", *["x"] * 100]


def test_a_secret_of_several_lines_is_masked_in_each() -> None:
    ring = StderrRing(ManualClock())
    ring.keep_secret(["short\nMIIEpAIBAAKCAQEA1234\n-----END\n"])
    ring.add([b"it is MIIEpAIBAAKCAQEA1234", b"short"])
    assert texts(ring) == ["it is ***", "short"]


def test_what_was_secret_before_a_change_stays_so() -> None:
    ring = StderrRing(ManualClock())
    ring.keep_secret(["first one"])
    ring.keep_secret(["second"])
    ring.add([b"first one, second"])
    assert texts(ring) == ["***, ***"]


def test_log_messages_keep_their_place_level_and_logger_and_no_secret() -> None:
    ring = StderrRing(ManualClock())
    ring.keep_secret(["secret"])
    ring.add([b"first"])
    ring.add_message(b'{"level":"warning","logger":"db","data":"a secret"}')
    ring.add([b"last"])
    ring.add_message(b'{"level":"shout","logger":5,"data":{"a":1}}')
    ring.add_message(b"no json")
    lines = [(each.text, each.level, each.logger) for each in ring.lines()]
    assert lines == [
        ("first", None, None),
        ("a ***", "warning", "db"),
        ("last", None, None),
        ('{"a":1}', "info", None),
        ("no json", "info", None),
    ]
    assert [each.number for each in ring.lines()] == [1, 2, 3, 4, 5]
    assert ring.tail() == ("first", "last")


def test_a_flood_of_lines_drives_out_no_message_and_neither_is_unbounded() -> None:
    ring = StderrRing(ManualClock())
    ring.add_message(b'{"data":"the message"}')
    ring.add([b"x"] * 10_000)
    assert ring.lines()[0].text == "the message"
    for _ in range(limits.LOG_MESSAGES + 5):
        ring.add_message(b'{"data":"%b"}' % (b"y" * 10_000))
    messages = [each for each in ring.lines() if each.level]
    assert len(messages) == limits.LOG_MESSAGES
    assert len(messages[0].text) == limits.LOG_MESSAGE_BYTES


@pytest.mark.real
async def test_a_server_that_tells_its_key_is_not_quoted_with_it() -> None:
    environment = {"API_KEY": "${KEY}", "WHO": "somebody"}
    tells = {"command": sys.executable, "args": ["-I", "-S", "-c", TELLS], "env": environment}
    async with Yard.open(environment={"KEY": "k-123456"}) as yard:
        with pytest.raises(StartFailed) as refused:
            await yard.trial(tells)
    assert refused.value.cause
    assert refused.value.cause.stderr == ("refused: *** for somebody",)
