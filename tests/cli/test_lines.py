"""Lines never wait for their reader."""

import fcntl
import logging
import os
from collections.abc import Generator

import pytest

from mcpyard.cli.lines import LineWriter, LogHandler


@pytest.fixture
def pipe() -> Generator[list[int]]:
    ends = [*os.pipe()]
    yield ends
    for fd in ends:
        os.close(fd)


def read_all(fd: int) -> bytes:
    os.set_blocking(fd, False)
    return os.read(fd, 1 << 20)


def fill(fd: int) -> bytes:
    """Leave no room in a pipe; what was put into it."""
    os.set_blocking(fd, False)
    size = fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)
    assert os.write(fd, b"x" * size) == size
    os.set_blocking(fd, True)
    return b"x" * size


def test_lines_come_in_order_and_whole(pipe: list[int]) -> None:
    writer = LineWriter(pipe[1], b"overflow\n")
    for number in range(500):
        writer.put(b"%d\n" % number)
    writer.close()
    assert read_all(pipe[0]) == b"".join(b"%d\n" % number for number in range(500))


def test_a_full_queue_is_dropped_for_one_line_that_says_so(pipe: list[int]) -> None:
    filling = fill(pipe[1])
    writer = LineWriter(pipe[1], b"overflow\n", limit=3)
    for number in range(20):
        writer.put(b"%d\n" % number)
    assert os.read(pipe[0], len(filling)) == filling
    writer.close()
    lines = read_all(pipe[0]).split()
    assert b"overflow" in lines
    assert lines[-1] in {b"19", b"overflow"}
    assert len(lines) <= 1 + 3, "the one being written, and the queue"


def test_a_reader_that_never_reads_does_not_hold_up_the_end(pipe: list[int]) -> None:
    filling = fill(pipe[1])
    writer = LineWriter(pipe[1], b"overflow\n")
    writer.put(b"a line\n")
    writer.close(within=0.05)
    assert os.read(pipe[0], len(filling)) == filling


def test_a_reader_that_is_gone_is_written_to_no_more(pipe: list[int]) -> None:
    os.close(pipe[0])
    pipe[0] = os.dup(pipe[1])
    writer = LineWriter(pipe[1], b"overflow\n")
    writer.put(b"a line\n")
    writer.close()
    writer.put(b"another\n")
    assert not writer._queue


def test_a_descriptor_that_does_not_block_is_waited_for(pipe: list[int]) -> None:
    filling = fill(pipe[1])
    os.set_blocking(pipe[1], False)
    writer = LineWriter(pipe[1], b"overflow\n")
    writer.put(b"a line\n")
    assert os.read(pipe[0], len(filling)) == filling
    writer.close()
    assert read_all(pipe[0]) == b"a line\n"


def test_a_log_is_written_in_short_lines(pipe: list[int]) -> None:
    handler = LogHandler(pipe[1])
    record = logging.LogRecord("x", logging.WARNING, "", 0, "half \ud800 of %s", ("it",), None)
    handler.emit(record)
    handler.close()
    assert read_all(pipe[0]) == b"WARNING half ? of it\n"
