"""A yard under fire, for a short while: `scripts/prove chaos` does it for ten minutes."""

from pathlib import Path

import pytest

from bench.fire.chaos import burn
from bench.fire.members import KINDS

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

SECONDS = 12.0
YARD_LIVES = 5.0
SEED = 20_261_115


async def test_a_yard_under_fire_answers_rightly_loses_nothing_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    ruins = await burn(tmp_path, SECONDS, SEED, KINDS, YARD_LIVES)
    assert ruins.faults() == {}
    assert ruins.tally.by_way.keys() == {
        "gateway, modern",
        "gateway, handshake",
        "rest",
        "toolbox",
    }
    assert ruins.deeds["kill yard"] > 0
    assert ruins.tally.cut > 0
