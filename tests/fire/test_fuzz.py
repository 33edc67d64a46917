"""Everything that reads, given hostile input; the same in every ordinary run."""

import math
import random
from collections.abc import Callable

import pytest

from bench.fire.fuzz import SLOWEST, try_out
from bench.fire.fuzz_targets import TARGETS, Dice
from tests.conftest import FULL

ROUNDS = 20_000 if FULL else 500
FIRST = random.randrange(1 << 32) if FULL else 20_261_115  # noqa: S311  to be repeated


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_hostile_input_breaks_no_promise(target: Callable[[Dice], None]) -> None:
    failures = try_out(target, FIRST, ROUNDS, SLOWEST if FULL else math.inf)
    assert not failures, failures[0].told
