"""A yard under fire, for a short while: `scripts/prove chaos` does it for ten minutes."""

from pathlib import Path

import pytest

from bench.fire.chaos import burn
from bench.fire.keepers import kill_keeper, kill_yard_with_hung_keeper
from bench.fire.members import DAEMONS
from bench.fire.scene import scene
from bench.fire.verdict import recovered, strays

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

SECONDS = 12.0
YARD_LIVES = 5.0
SEED = 20_261_115


async def test_a_yard_under_fire_answers_rightly_loses_nothing_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    ruins = await burn(tmp_path, SECONDS, SEED, YARD_LIVES, hangs_keepers=False)
    assert ruins.faults() == {}
    assert ruins.tally.by_way.keys() == {
        "gateway, modern",
        "gateway, handshake",
        "rest",
        "toolbox",
        "wrong arguments",
        "resources",
        "streams",
        "large sessions",
    }
    assert ruins.deeds["kill yard"] > 0
    assert ruins.deeds["freeze"] > 0
    assert ruins.tally.cut > 0
    assert ruins.tally.over_quota.total() > 0
    assert ruins.lateness.yard
    assert ruins.lateness.control


async def test_a_lost_keeper_leaves_none_of_the_processes_that_detached_themselves(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, {DAEMONS: 2}, SEED) as made:
        for deed in (kill_keeper, kill_yard_with_hung_keeper):
            await recovered(made)
            before = made.daemons().keys()
            assert len(before) == 2
            await deed(made)
            records = await recovered(made)
            assert before.isdisjoint(made.daemons())
            assert strays(made, records) == set()
        assert await made.end_yard() == 0
        assert made.daemons() == {}
    assert made.orphans == set()
