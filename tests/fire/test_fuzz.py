"""Everything that reads, given hostile input; the same in every ordinary run."""

import math
import random
from collections.abc import Callable

import pytest

from bench.fire import bound_targets
from bench.fire.fuzz import SLOWEST, try_out
from bench.fire.fuzz_targets import TARGETS, Dice
from tests.conftest import FULL

ROUNDS = 20_000 if FULL else 500
LONG_ROUNDS = 1_000 if FULL else 40
FIRST = random.randrange(1 << 32) if FULL else 20_261_115  # noqa: S311  to be repeated


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_hostile_input_breaks_no_promise(target: Callable[[Dice], None]) -> None:
    failures = try_out(target, FIRST, ROUNDS, SLOWEST if FULL else math.inf)
    assert not failures, failures[0].message


@pytest.mark.spec("F2.3")
@pytest.mark.parametrize("target", bound_targets.TARGETS.values(), ids=bound_targets.TARGETS)
def test_input_of_any_length_is_answered_in_time(target: Callable[[Dice], None]) -> None:
    """Work that grows with the square of a length ends at the time limit of this test."""
    failures = try_out(target, FIRST, LONG_ROUNDS, SLOWEST if FULL else math.inf)
    assert not failures, failures[0].message
