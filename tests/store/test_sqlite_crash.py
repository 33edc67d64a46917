"""Nothing that was acknowledged is lost when a program is killed while it writes."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from mcpyard.store.sqlite.store import Store
from tests.store.contract import opened
from tests.store.contract_crash import expected, held

FULL = os.environ.get("MCPYARD_PROOF") == "full"
ROUNDS = 200 if FULL else 10
WORKERS = 4
PROGRAM = Path(__file__).with_name("contract_crash.py")


def killed_after(lines: int, folder: Path, steps: list[int]) -> list[int]:
    """The steps acknowledged by a writer that was killed once it had said so many lines."""
    acknowledged = list(steps)
    command = [sys.executable, str(PROGRAM), str(folder), *map(str, steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        for _ in range(lines):
            worker, number = map(int, writer.stdout.readline().split())
            acknowledged[worker] = number
        writer.kill()
        # What was said before the end counts, though it is read after it.
        for line in writer.stdout.read().splitlines():
            worker, number = map(int, line.split())
            acknowledged[worker] = number
    return acknowledged


@pytest.mark.real
@pytest.mark.timeout(600 if FULL else 60)
async def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(None if FULL else 4)  # noqa: S311  no secret
    steps = [0] * WORKERS
    for turn in range(ROUNDS):
        acknowledged = killed_after(chance.randrange(1, 200), tmp_path, steps)
        assert sum(acknowledged) > sum(steps)
        async with opened(lambda: Store.open(tmp_path)) as store:
            for worker in range(WORKERS):
                mine = held(store, worker)
                state = mine[1] if mine else None
                whole = [
                    expected(worker, acknowledged[worker]),
                    expected(worker, acknowledged[worker] + 1),
                ]
                assert state in whole, (turn, worker, acknowledged)
                steps[worker] = acknowledged[worker] + whole.index(state)
