"""A yard under fire: `python -m bench.fire.chaos [--minutes M] [--seed N]`.

Thirty servers of mixed kinds are called by 32 callers, through the gateway in both eras, over REST
and out of a toolbox, each call with a nonce of its own. Meanwhile servers are killed, held and made
to hang, definitions are edited in the file and over REST, and keeper and yard are killed. In the
end no answer was wrong, every call has ended, nothing lives on that should not, every acknowledged
edit is there, and every lamp tells the truth.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.fire.callers import WAYS, Caller, Tally
from bench.fire.members import KINDS
from bench.fire.mischief import Mischief
from bench.fire.scene import Scene, scene
from bench.fire.verdict import lies, lost_changes, recovered, strays
from bench.measuring import Figures

YARD_LIVES = 20.0
"""Seconds that a yard lives on average before it is killed."""

CALLS_A_MINUTE = 10_000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Ruins:
    """What was found when the fire was over; all but the counts must be empty."""

    tally: Tally
    deeds: Mapping[str, int]
    odd: list[str]
    orphans: set[int]
    strays: set[int]
    lost: list[str]
    lies: list[str]
    exit_status: int
    recovery: float

    def faults(self) -> dict[str, list[str]]:
        """What is wrong, by its kind; kinds of which there is nothing are left out."""
        tally = self.tally
        running = tally.begun - tally.ended - len(tally.unfinished)
        found = {
            "wrong answers": tally.wrong,
            "broken answers": tally.broken,
            "calls without end": [*tally.unfinished, *[f"{running} more"] * bool(running)],
            "odd answers to changes": self.odd,
            "orphans": sorted(map(str, self.orphans)),
            "processes of nobody": sorted(map(str, self.strays)),
            "lost changes": self.lost,
            "lamps that lie": self.lies,
            "exit status": [str(self.exit_status)] * bool(self.exit_status),
        }
        return {kind: each for kind, each in found.items() if each}


async def burn(
    folder: Path, seconds: float, seed: int, kinds: dict[str, int], yard_lives: float = YARD_LIVES
) -> Ruins:
    """Set a yard on fire for so long; what is left of it."""
    tally = Tally()
    async with scene(folder, kinds, seed) as made:
        await recovered(made)
        mischief = Mischief(made, yard_lives)
        await _rage(made, tally, mischief, seconds)
        began = time.monotonic()
        records = await recovered(made)
        recovery = time.monotonic() - began
        untrue = await lies(made, records)
        lost, stray = lost_changes(made, records), strays(made, records)
        status = await made.end_yard()
    deeds, odd = dict(mischief.done), mischief.odd
    return Ruins(tally, deeds, odd, made.orphans, stray, lost, untrue, status, recovery)


async def _rage(made: Scene, tally: Tally, mischief: Mischief, seconds: float) -> None:
    calm, quiet = asyncio.Event(), asyncio.Event()
    callers: list[Caller] = [way(made, tally) for way, count in WAYS.items() for _ in range(count)]
    calling = [asyncio.create_task(each.run(quiet)) for each in callers]
    raging = asyncio.create_task(mischief.run(calm))
    await asyncio.wait({raging, *calling}, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    calm.set()
    await raging
    quiet.set()
    await asyncio.gather(*calling)


def report(ruins: Ruins, minutes: float, seconds: float) -> Figures:
    figures, tally = Figures(), ruins.tally
    figures.at_least("calls answered rightly", tally.right, CALLS_A_MINUTE * minutes)
    figures.show("  a second", f"{tally.right / seconds:,.0f}")
    for way, count in sorted(tally.by_way.items()):
        figures.show(f"  by {way}", f"{count:,}")
    figures.show("calls refused, with a reason", f"{tally.refused.total():,}")
    for why, count in tally.refused.most_common():
        figures.show(f"  {why}", f"{count:,}")
    figures.show("calls cut short by the yard's own death", f"{tally.cut:,}")
    for deed, count in sorted(ruins.deeds.items()):
        figures.show(f"deed: {deed}", f"{count:,}")
    figures.show("all well again after", f"{ruins.recovery:.1f} s")
    figures.at_most("kinds of faults", len(ruins.faults()), 0)
    for kind, found in ruins.faults().items():
        figures.show(kind, f"{len(found)}: " + "; ".join(found[:SHOWN]))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        seconds = asked.minutes * 60
        ruins = uvloop.run(burn(Path(folder), seconds, asked.seed, KINDS))
        figures = report(ruins, asked.minutes, seconds)
    figures.leave()


if __name__ == "__main__":
    main()
