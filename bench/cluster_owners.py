"""Who owns a server: daemons of one name, owners that return, and moves under load."""

import signal
from collections.abc import Iterable, Sequence

from bench.cluster_scene import Scene, register_all
from bench.measuring import Figures
from tests.cli.commands import TIMEOUT
from tests.cluster.nodes import RunningNode, place_on
from tests.cluster.recording import Record, Recording, calling, overtaken

NAMES = ["single", "other"]
TTL, LONG_TTL = 2.0, 60.0
PAUSE = 0.02


def one_name(scene: Scene, figures: Figures, rounds: int) -> None:
    """Freeze a node, start another daemon of its name, and wake the first one."""
    recording, ended = scene.recording, 0
    with scene.cluster("n1", ttl=TTL) as cluster:
        before = cluster.nodes["n1"]
        register_all([before], recording, NAMES)
        for number in range(rounds):
            scene.remember(before)
            with calling([before], NAMES, PAUSE) as first:
                first.wait_answered(NAMES, ["n1"])
                before.signal(signal.SIGSTOP)
                home = f"home{number}"
                after = cluster.start("n1", "--replace", home=home, ttl=TTL)
                with calling([after], NAMES, PAUSE) as callers:
                    callers.wait_answered(NAMES, ["n1"])
                    before.signal(signal.SIGCONT)
                    ended += before.up.process.wait(TIMEOUT) == 1
                    callers.wait_answered(NAMES, ["n1"])
            before = after
            before.until(lambda: len(recording.all_copies()) == len(NAMES))
    figures.at_most("one name: daemons that did not end", rounds - ended, 0)
    judge(figures, "one name", recording)


def returned(scene: Scene, figures: Figures, rounds: int) -> None:
    """Kill the owner, which has another time to live than the taker, and start it again."""
    recording = scene.recording
    with scene.cluster("n1", ttl=LONG_TTL) as cluster:
        taker = cluster.nodes["n1"]
        owner = cluster.start("n2", ttl=TTL)
        register_all([taker, owner], recording, NAMES)
        for _ in range(rounds):
            place_on(cluster, "n2", *NAMES)
            scene.remember(owner)
            with calling([taker], NAMES, PAUSE) as callers:
                callers.wait_answered(NAMES, ["n1"])
                owner.kill()
                callers.wait_answered(NAMES, ["n1"])
                owner = cluster.start("n2", ttl=TTL)
                callers.wait_answered(NAMES, ["n1"])
                _wait_seen(owner, "n1")
    judge(figures, "returned", recording)


def moved(scene: Scene, figures: Figures, rounds: int) -> None:
    """Move servers between two nodes and back, while both are called."""
    recording, nodes = scene.recording, ["n1", "n2"]
    with scene.cluster(*nodes, ttl=TTL) as cluster:
        register_all([*cluster.nodes.values()], recording, NAMES)
        with calling([*cluster.nodes.values()], NAMES, PAUSE) as callers:
            for number in range(rounds):
                place_on(cluster, nodes[number % 2], *NAMES)
                callers.wait_answered(NAMES, nodes)
    refused = [each for each in callers.of() if not each.answered]
    figures.show("moved: moves, calls", f"{rounds * len(NAMES)}, {len(callers.of())}")
    figures.at_most("moved: calls that were not answered", len(refused), 0)
    for each in refused[:5]:
        print(f"  {each}")
    judge(figures, "moved", recording)


def judge(figures: Figures, label: str, recording: Recording) -> None:
    """What must hold of all calls, whoever owned the servers meanwhile."""
    late = overtaken(recording.calls("single"))
    figures.at_most(f"{label}: by an old copy of a singleton", len(late), 0)
    shared = shared_fences(recording.calls("single"))
    figures.at_most(f"{label}: singletons of one fence twice", shared, 0)
    figures.at_most(f"{label}: calls carried out twice", len(recording.twice()), 0)
    for each in late:
        print(f"  {each}")


def shared_fences(calls: Iterable[Record]) -> int:
    """How many calls of a singleton were begun between two of another copy of the same fence."""
    last: dict[tuple[str, int], int] = {}
    ended: set[tuple[str, int, int]] = set()
    shared = 0
    for each in calls:
        fence = each.server, each.fence
        before = last.get(fence, each.pid)
        if before != each.pid:
            ended.add((*fence, before))
        shared += (*fence, each.pid) in ended
        last[fence] = each.pid
    return shared


def _wait_seen(node: RunningNode, owner: str, names: Sequence[str] = NAMES) -> None:
    for name in names:
        node.until_connected(name, owner)
