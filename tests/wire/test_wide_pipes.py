"""How much the pipe of a server holds: a user's pipes share one limit, so only who needs it."""

import asyncio
import fcntl
import sys

import pytest

from mcpyard.wire.link import Outgoing
from mcpyard.wire.stdio import PIPE_BYTES
from tests.wire.pipe_ends import Recording, linked

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="elsewhere a pipe cannot be widened"
)


async def test_only_a_pipe_that_long_lines_come_by_is_widened() -> None:
    receiver = Recording()
    async with linked(receiver, 4 * PIPE_BYTES) as (_, other):
        usual = fcntl.fcntl(other.stdout, fcntl.F_GETPIPE_SZ)
        other.say(b'{"short":1}\n' * 1_000)
        await receiver.until(1_000)
        assert fcntl.fcntl(other.stdout, fcntl.F_GETPIPE_SZ) == usual < PIPE_BYTES
        long = b'{"text":"%b"}' % (b"x" * PIPE_BYTES)
        await other.say_all(long + b"\n")
        await receiver.until(1_001)
        assert receiver.frames[-1] == long
        assert fcntl.fcntl(other.stdout, fcntl.F_GETPIPE_SZ) == PIPE_BYTES


async def test_only_a_pipe_that_long_messages_go_by_is_widened() -> None:
    async with linked(Recording()) as (link, other):
        usual = fcntl.fcntl(other.stdin, fcntl.F_GETPIPE_SZ)
        for number in range(100):
            link.send(Outgoing(b'{"short":1}', number, "x"))
        await asyncio.sleep(0)
        assert len(await other.hear()) == 100
        assert fcntl.fcntl(other.stdin, fcntl.F_GETPIPE_SZ) == usual < PIPE_BYTES
        long = b'{"text":"%b"}' % (b"x" * 4 * usual)
        link.send(Outgoing(long, 1, "x"))
        await asyncio.sleep(0)
        assert fcntl.fcntl(other.stdin, fcntl.F_GETPIPE_SZ) == PIPE_BYTES
        assert await other.hear() == [long]
