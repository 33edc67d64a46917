"""Hostile input for everything that reads: `python -m bench.fire.fuzz [--minutes M] [--seed N]`.

Each round is named by a number, so that one that fails can be repeated: `--seed N` with the number
that was shown begins there.
"""

import argparse
import random
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from bench.fire import bound_targets, fuzz_targets
from bench.fire.fuzz_targets import Dice
from bench.measuring import Figures

SLOWEST = 2.0
"""Seconds that one round may take; the texts are short, so more is a hang."""

AT_ONCE = 200

TARGETS = fuzz_targets.TARGETS | bound_targets.TARGETS


@dataclass(frozen=True, slots=True)
class Failure:
    """A round in which a promise was broken."""

    target: str
    seed: int
    message: str


def try_out(
    target: Callable[[Dice], None], first: int, rounds: int, slowest: float = SLOWEST
) -> list[Failure]:
    """Run so many rounds of a target; those that failed, or took longer than the slowest may."""
    failures: list[Failure] = []
    for seed in range(first, first + rounds):
        began = time.monotonic()
        try:
            target(random.Random(seed))  # noqa: S311  to be repeated
        except Exception:  # noqa: BLE001  whatever it is, it is what is looked for
            failures.append(Failure(target.__name__, seed, traceback.format_exc()))
        took = time.monotonic() - began
        if took > slowest:
            failures.append(Failure(target.__name__, seed, f"took {took:.1f} s"))
    return failures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    figures = Figures()
    for name, target in TARGETS.items():
        until = time.monotonic() + options.minutes * 60 / len(TARGETS)
        rounds, failures = 0, list[Failure]()
        while time.monotonic() < until:
            failures += try_out(target, options.seed + rounds, AT_ONCE)
            rounds += AT_ONCE
        figures.show(f"{name}: rounds", f"{rounds:,}")
        figures.at_most(f"{name}: promises broken", len(failures), 0)
        for each in failures[:1]:
            print(f"round {each.seed}:\n{each.message}", file=sys.stderr)
    figures.leave()


if __name__ == "__main__":
    main()
