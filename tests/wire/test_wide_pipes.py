"""How much the pipe of a server holds: a user's pipes share one limit, so only who needs it."""

import fcntl
import sys

import pytest

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
