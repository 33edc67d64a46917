"""A yard under fire: `python -m bench.fire.chaos [--minutes M] [--seed N]`.

Thirty servers of mixed kinds are called by 43 callers, through the gateway in both eras, over REST
and out of a toolbox, each call with a nonce of its own. They share four tokens, whose quotas are
low: what is refused because of one is answered rightly. One server has a hostile schema, one has
hostile resource templates, some start processes that detach themselves. Meanwhile servers are
killed, frozen and made to hang, definitions are edited in the file and over REST, keepers are
killed and made to hang, and yards are killed. In the end no answer was wrong, every call has ended,
nothing lives on that should not, every acknowledged edit is there, every status is true, and
the event loop was never much later than a bare one beside it.
"""

import argparse
import asyncio
import random
import shutil
import tempfile
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench.fire.callers import WAYS, Caller, Tally
from bench.fire.greedy_callers import GREEDY_WAYS
from bench.fire.hostile_callers import HOSTILE_WAYS
from bench.fire.lateness import Lateness, Probe
from bench.fire.members import KINDS
from bench.fire.mischief import Mischief
from bench.fire.quotas import show_quotas, unreturned
from bench.fire.scene import Scene, scene
from bench.fire.verdict import lies, lost_changes, recovered, strays
from bench.measuring import Figures, percentile

YARD_LIVES = 20.0
"""Seconds that a yard lives on average before it is killed."""

CALLS_A_MINUTE = 10_000
LATEST = 250.0
"""Milliseconds by which the event loop may be later than the control."""

SLOWEST_REFUSAL = 1000.0
"""Milliseconds in which 99 of 100 wrong arguments must be refused, with 43 callers at once."""

LIMITS = "calls=8,sessions=24,streams=2,memory=320KiB"
"""Low enough to be in the way now and then."""

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
    unreturned: list[str]
    lies: list[str]
    exit_status: int
    recovery: float
    lateness: Lateness

    def faults(self) -> dict[str, list[str]]:
        """What is wrong, by its kind; kinds of which there is nothing are left out."""
        tally = self.tally
        running = tally.begun - tally.ended - len(tally.unfinished)
        faults = {
            "wrong answers": tally.wrong,
            "broken answers": tally.broken,
            "calls without end": [*tally.unfinished, *[f"{running} more"] * bool(running)],
            "odd answers to changes": self.odd,
            "orphans": sorted(map(str, self.orphans)),
            "processes of nobody": sorted(map(str, self.strays)),
            "lost changes": self.lost,
            "quotas not given back": self.unreturned,
            "wrong statuses": self.lies,
            "exit status": [str(self.exit_status)] * bool(self.exit_status),
        }
        return {kind: each for kind, each in faults.items() if each}


async def burn(
    folder: Path,
    seconds: float,
    seed: int,
    yard_lives: float = YARD_LIVES,
    *,
    hangs_keepers: bool = True,
) -> Ruins:
    """Set a yard on fire for so long; what is left of it.

    Args:
        folder: An empty folder.
        seconds: How long.
        seed: Of the dice.
        yard_lives: Seconds that a yard lives on average.
        hangs_keepers: Whether keepers hang until they are replaced, which takes more than 10 s.
    """
    tally = Tally()
    async with scene(folder, KINDS, seed, limits=LIMITS) as made:
        await recovered(made)
        mischief = Mischief(made, yard_lives, hangs_keepers=hangs_keepers)
        lateness = await _measured(made, _rage(made, tally, mischief, seconds))
        began = time.monotonic()
        records = await recovered(made)
        recovery = time.monotonic() - began
        untrue = await lies(made, records)
        lost, stray = lost_changes(made, records), strays(made, records)
        counted = await unreturned(made)
        status = await made.end_yard()
    return Ruins(
        tally,
        dict(mischief.done),
        mischief.odd,
        made.orphans,
        stray,
        lost,
        counted,
        untrue,
        status,
        recovery,
        lateness,
    )


async def _measured(made: Scene, raging: Awaitable[None]) -> Lateness:
    probe = await Probe.start()
    made.on_address = probe.set_address
    probe.set_address(made.url)
    try:
        await raging
    finally:
        made.on_address = lambda _: None
        lateness = await probe.finish()
    return lateness


async def _rage(made: Scene, tally: Tally, mischief: Mischief, seconds: float) -> None:
    calm, quiet = asyncio.Event(), asyncio.Event()
    ways = {**WAYS, **HOSTILE_WAYS, **GREEDY_WAYS}
    callers: list[Caller] = [way(made, tally) for way, count in ways.items() for _ in range(count)]
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
    figures.show("  of them by a fallback server", f"{tally.by_fallback:,}")
    slow = percentile(tally.refusals or [0.0], 0.99)
    figures.at_most("wrong arguments refused within (99 %)", slow, SLOWEST_REFUSAL, " ms")
    for name, times in ruins.lateness.lines().items():
        figures.show(f"event loop of the {name} answers after", times)
    figures.at_most("latest answer beyond the control's", ruins.lateness.excess, LATEST, " ms")
    figures.show("calls refused, with a reason", f"{tally.refused.total():,}")
    for why, count in tally.refused.most_common():
        figures.show(f"  {why}", f"{count:,}")
    show_quotas(figures, tally)
    figures.show("calls cut short by the yard's own death", f"{tally.cut:,}")
    for deed, count in sorted(ruins.deeds.items()):
        figures.show(f"deed: {deed}", f"{count:,}")
    figures.show("all well again after", f"{ruins.recovery:.1f} s")
    figures.at_most("kinds of faults", len(ruins.faults()), 0)
    for kind, faults in ruins.faults().items():
        figures.show(kind, f"{len(faults)}: " + "; ".join(faults[:SHOWN]))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))  # noqa: S311
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        seconds = options.minutes * 60
        ruins = uvloop.run(burn(Path(folder), seconds, options.seed))
        figures = report(ruins, options.minutes, seconds)
        if ruins.faults():
            logs = Path(tempfile.mkdtemp(prefix="mcpyard-chaos-"))
            for each in (Path(folder, "stderr"), *Path(folder, "home").glob("*.log*")):
                shutil.copy(each, logs)
            print(f"the logs of the yards are in {logs}")
    figures.leave()


if __name__ == "__main__":
    main()
