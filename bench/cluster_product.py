"""A cluster as its operators use it: `python -m bench.cluster_product [PART...]`.

Parts: sessions, drain, chaos, revocation, sizing; all of them without any. `--kills` is for
sessions, `--minutes` for chaos, `--servers` for drain and sizing, `--callers` for drain, `--rounds`
for revocation; the same `--seed` makes the same choices. Loopback only; about half an hour.
"""

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.cluster_chaos import ChaosOptions, chaos
from bench.cluster_drain import DrainOptions, drain
from bench.cluster_revocation import revocation
from bench.cluster_scene import Scene
from bench.cluster_sessions import SessionOptions, sessions
from bench.cluster_sizing import sizing
from bench.measuring import Figures
from tests.postgres import running

Part = Callable[[Scene, Figures, argparse.Namespace], None]


def _sessions(scene: Scene, figures: Figures, arguments: argparse.Namespace) -> None:
    sessions(scene, figures, SessionOptions(arguments.kills, seed=arguments.seed))


def _drain(scene: Scene, figures: Figures, arguments: argparse.Namespace) -> None:
    options = DrainOptions(arguments.servers, arguments.callers, arguments.seed)
    drain(scene, figures, options)


def _chaos(scene: Scene, figures: Figures, arguments: argparse.Namespace) -> None:
    chaos(scene, figures, ChaosOptions(arguments.minutes, seed=arguments.seed))


def _revocation(scene: Scene, figures: Figures, arguments: argparse.Namespace) -> None:
    revocation(scene, figures, arguments.rounds, arguments.seed)


def _sizing(scene: Scene, figures: Figures, arguments: argparse.Namespace) -> None:
    sizing(scene, figures, arguments.servers)


PARTS: dict[str, Part] = {
    "sessions": _sessions,
    "drain": _drain,
    "chaos": _chaos,
    "revocation": _revocation,
    "sizing": _sizing,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--servers", type=int, default=300)
    parser.add_argument("--callers", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=23)
    arguments = parser.parse_args()
    figures = Figures()
    for name in arguments.parts or PARTS:
        print(f"-- {name}; load average {os.getloadavg()[0]:.1f}", flush=True)
        with tempfile.TemporaryDirectory() as folder, running(durable=True) as postgres:
            scene = Scene(Path(folder), postgres)
            PARTS[name](scene, figures, arguments)
            figures.at_most(f"{name}: orphans", scene.orphans(), 0)
    figures.leave()


if __name__ == "__main__":
    main()
