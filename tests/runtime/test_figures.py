"""What the processes of a server use, by what real processes do."""

import os
import time
from uuid import UUID

import pytest

from mcpyard.runtime import figures
from mcpyard.runtime.figures import UsageMeter
from mcpyard.runtime.processes.table import read_process
from mcpyard.runtime.processes.usage import ProcessSnapshot, memory_of
from tests.runtime.small_yard import small_yard
from tests.runtime.waiting import eventually

ONE = UUID(int=1)
MEGABYTE = 1 << 20


def own_root() -> tuple[int, int]:
    row = read_process(os.getpid())
    assert row
    return row.key


@pytest.mark.real
async def test_a_server_is_counted_with_all_its_processes_even_detached_ones() -> None:
    async with small_yard() as yard:
        child, pids = await yard.family("leaves-detached")
        await child.be_seen()
        assert await eventually(lambda: bool(child.detached))
        usage = UsageMeter().figures(ONE, child.roots)
        assert usage is not None
        assert usage.processes == len(pids) == 2
        assert usage.rss > 4 * MEGABYTE
        await child.kill()
        assert UsageMeter().figures(ONE, child.roots) is None


def test_a_later_process_with_the_number_of_an_earlier_one_is_not_counted() -> None:
    pid, start = own_root()
    assert UsageMeter().figures(ONE, [(pid, start + 1)]) is None


def test_the_rate_is_that_of_the_time_since_somebody_asked_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(figures, "_FRESH_SECONDS", -1.0)
    meter, root = UsageMeter(), own_root()
    first = meter.figures(ONE, [root])
    assert first
    assert first.cpu_percent > 0
    # Asked again at once, it has no new rate to tell.
    again = meter.figures(ONE, [root])
    assert again
    assert again.cpu_percent == first.cpu_percent
    monkeypatch.setattr(figures, "_LEAST_SECONDS", 0.0)
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    later = meter.figures(ONE, [root])
    assert later
    assert later.cpu_seconds >= first.cpu_seconds + 0.08
    assert later.cpu_percent != first.cpu_percent


def test_one_look_at_the_process_table_serves_all_who_ask_at_once() -> None:
    meter, root = UsageMeter(), own_root()
    assert meter.figures(ONE, [root]) == meter.figures(ONE, [root])


def test_what_processes_share_counts_once_against_a_limit() -> None:
    shared = b"x" * (64 * MEGABYTE)
    reader, writer = os.pipe()
    children = [fork_until(writer, reader) for _ in range(3)]
    os.close(reader)
    try:
        rows = ProcessSnapshot().tree([own_root()])
        assert len(rows) >= 4
        counted, real = memory_of(rows), memory_of(rows, limit=1)
        assert counted - real > 2 * len(shared)
    finally:
        os.close(writer)
        for pid in children:
            os.waitpid(pid, 0)


def fork_until(writer: int, reader: int) -> int:
    """A copy of this process that ends when a pipe does."""
    pid = os.fork()
    if pid == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    return pid
