"""A cluster of real daemons under faults: `python -m bench.cluster [PART...] [--rounds N]`.

Parts: killed, frozen, frozen_long, frozen_machine, one_name, returned, moved, changes, away, seen,
calls; all of them without any. What began when is what the servers wrote themselves, with their
fences. `--rounds` runs fewer of those that have rounds, and as many changes. Loopback only; half an
hour on an idle machine.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import cluster_calls, cluster_changes, cluster_losses, cluster_owners
from bench.cluster_scene import Scene
from bench.measuring import Figures
from tests.postgres import running

Part = Callable[[Scene, Figures, int], None]

PARTS: dict[str, tuple[Part, int]] = {
    "killed": (cluster_losses.killed, 20),
    "frozen": (cluster_losses.frozen, 95),
    "frozen_long": (cluster_losses.frozen_long, 5),
    "frozen_machine": (cluster_losses.frozen_machine, 20),
    "one_name": (cluster_owners.one_name, 10),
    "returned": (cluster_owners.returned, 10),
    "moved": (cluster_owners.moved, 50),
    "changes": (cluster_changes.changes, 1000),
    "away": (cluster_losses.away, 1),
    "seen": (cluster_changes.seen, 300),
    "calls": (cluster_calls.calls, 5),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    figures = Figures()
    for name in arguments.parts or PARTS:
        work, most = PARTS[name]
        rounds = min(most, arguments.rounds or most)
        print(f"-- {name}: {rounds} of {most}; load average {os.getloadavg()[0]:.1f}", flush=True)
        with tempfile.TemporaryDirectory() as folder, running(durable=True) as postgres:
            scene = Scene(Path(folder), postgres)
            work(scene, figures, rounds)
            figures.at_most(f"{name}: orphans", scene.orphans(), 0)
    figures.leave()


if __name__ == "__main__":
    main()
