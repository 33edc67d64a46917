"""A yard that is never left alone, for a short while: `scripts/prove soak` does it for longer."""

from pathlib import Path

import pytest

from bench.fire.soak import growth, soak

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

SECONDS = 8.0
SEED = 20_261_115
SAMPLES = 32
MOST_MORE = 6
"""Descriptors, tasks and threads by which a yard that is still warming up may differ."""


async def test_a_yard_that_is_used_on_and_on_keeps_nothing_of_it(tmp_path: Path) -> None:
    samples, done, tally = await soak(tmp_path, SECONDS, SEED, SAMPLES)
    assert [tally.wrong, tally.broken, tally.unfinished] == [[], [], []]
    assert done.total() > 0
    assert tally.over_quota.total() > 0
    assert max(each.zombies for each in samples) == 0
    for name in ("fds", "tasks", "threads"):
        assert growth([getattr(each, name) for each in samples]) <= MOST_MORE, name
