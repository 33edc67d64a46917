"""Three nodes, callers and writers, while nodes, network and database fail at random."""

import contextlib
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from typing import Final

import httpx2
import psycopg

from bench.cluster_callers import CallerPool, calling_all
from bench.cluster_changes import Writer, lost_promises, notes
from bench.cluster_drain import NODES, judge, names_of, port_of, until, wait_whole
from bench.cluster_scene import Nap, Scene, register_all
from bench.measuring import Figures
from tests.cluster.network import LinkCuts, Network, NetworkPath, network
from tests.cluster.nodes import ClusterOfNodes, RunningNode
from tests.cluster.recording import boot_time

WRITERS: Final = 3
_BETWEEN_WRITES: Final = 0.4
_BETWEEN_FAULTS: Final = 1.0
_NOTICED: Final = 20.0
"""Seconds after which a node at the latest knows that it reaches nobody."""

_CALLS_A_SECOND: Final = 100_000 / 600
_ANSWERED: Final = 50.0
"""Per cent: otherwise a cluster that refuses everything would pass."""

_OK: Final = 200
_KEPT_NOTES: Final = """
CREATE TABLE public.kept_notes (rev bigint, key text);
CREATE FUNCTION public.keep_note() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.kept_notes VALUES (NEW.rev, NEW.key); RETURN NULL; END $$;
CREATE TRIGGER kept AFTER INSERT ON mcpyard.changes
    FOR EACH ROW EXECUTE FUNCTION public.keep_note();
"""
"""The cluster forgets its notes of changes after a while; they are counted at the end."""

_pause = threading.Event()


@dataclass(frozen=True)
class ChaosOptions:
    """How much of it: it goes on until the time is over and each fault was there.

    Attributes:
        faults: What fails; all of it in random order, then all of it again.
        expected: Calls that must have been made.
    """

    minutes: float = 10.0
    faults: "Sequence[Fault]" = ()
    servers: int = 30
    callers: int = 60
    seed: int = 23
    ttl: float = 3.0

    @property
    def expected(self) -> float:
        return self.minutes * 60 * _CALLS_A_SECOND


@dataclass
class Stage:
    """What the faults are done to."""

    scene: Scene
    cluster: ClusterOfNodes
    dice: random.Random
    ttl: float
    pool: CallerPool | None = None
    links: LinkCuts = field(default_factory=LinkCuts)
    databases: dict[str, NetworkPath] = field(default_factory=dict[str, NetworkPath])
    _arguments: dict[str, tuple[list[str], str]] = field(
        default_factory=dict[str, tuple[list[str], str]]
    )

    def prepare(self, net: Network) -> None:
        """A network of its own for each node."""
        for name in NODES:
            path, listen = net.to_node(name)
            self.links.add(name, path)
            self.databases[name], dsn = net.to_database(self.cluster.dsn)
            self._arguments[name] = listen, dsn

    def start(self, name: str) -> None:
        arguments, dsn = self._arguments[name]
        node = self.cluster.start(name, *arguments, dsn=dsn, ttl=self.ttl)
        if self.pool is not None:
            self.pool.join(name, port_of(node))

    def victim(self) -> RunningNode:
        return self.cluster.nodes[self.dice.choice(NODES)]

    def wait(self, least: float, most: float) -> None:
        _pause.wait(self.dice.uniform(least, most))


def kill(stage: Stage) -> None:
    """Kill a node, and start it again before or after its lease ends."""
    victim = stage.victim()
    stage.scene.remember(victim)
    victim.kill()
    stage.wait(0.0, 2.5 * stage.ttl)
    stage.start(victim.name)


def _stop(stage: Stage) -> None:
    """Stop a node in order."""
    victim = stage.victim()
    stage.scene.remember(victim)
    victim.up.process.send_signal(signal.SIGTERM)
    assert victim.up.process.wait(120) == 0
    stage.wait(0.0, 2.0)
    stage.start(victim.name)


def _freeze(stage: Stage) -> None:
    """Freeze the daemon of a node, and wake it."""
    victim = stage.victim()
    victim.signal(signal.SIGSTOP)
    stage.wait(0.5, 2.5 * stage.ttl)
    victim.signal(signal.SIGCONT)


def freeze_machine(stage: Stage) -> None:
    """Freeze a node with its keeper and all its servers, and wake it."""
    victim = stage.victim()
    frozen = boot_time()
    victim.signal_all(signal.SIGSTOP)
    stage.wait(0.5, 2.5 * stage.ttl)
    stage.scene.naps.append(Nap(frozen, boot_time()))
    victim.signal_all(signal.SIGCONT)


def _cut_link(stage: Stage) -> None:
    """Cut the link between two nodes."""
    pair = stage.dice.sample(NODES, 2)
    stage.links.cut(*pair)
    stage.wait(0.5, 2.5 * stage.ttl)
    stage.links.heal(*pair)


def _cut_database(stage: Stage) -> None:
    """Cut one node from the database."""
    path = stage.databases[stage.victim().name]
    path.cut()
    stage.wait(0.5, 2.5 * stage.ttl)
    path.heal()


def isolate(stage: Stage) -> None:
    """Cut one node from the database, and from all others."""
    victim = stage.victim()
    stage.links.cut(victim.name)
    stage.databases[victim.name].cut()
    until(lambda: is_isolated(victim), _NOTICED)
    stage.wait(0.0, 2.5 * stage.ttl)
    stage.databases[victim.name].heal()
    stage.links.heal(victim.name)


def is_isolated(node: RunningNode) -> bool:
    """Whether a node knows that it reaches nobody."""
    return bool(node.get("/api/cluster")["isolated"])


def restart_database(stage: Stage) -> None:
    """Kill the database, and start it again."""
    stage.scene.postgres.kill()
    stage.wait(0.0, 2.0 * stage.ttl)
    stage.scene.postgres.start()


def _drain(stage: Stage) -> None:
    """Drain a node, and even them out after it was restarted."""
    victim = stage.victim()
    sender = stage.cluster.nodes[stage.dice.choice([each for each in NODES if each != victim.name])]
    sender.post(f"/api/cluster/nodes/{victim.name}/drain")
    stage.wait(0.0, 3.0)
    stage.scene.remember(victim)
    victim.up.process.send_signal(signal.SIGTERM)
    assert victim.up.process.wait(120) == 0
    stage.start(victim.name)


Fault = Callable[[Stage], None]
FAULTS: Final[Sequence[Fault]] = (
    *(kill, _stop, _drain, _freeze, freeze_machine),
    *(_cut_link, _cut_database, isolate, restart_database),
)


class RoamingWriter(Writer):
    """Changes one server, each time at another node."""

    def __init__(self, stage: Stage, server: str, seed: int) -> None:
        super().__init__(stage.cluster.nodes[NODES[0]], server)
        self._stage = stage
        self._dice = random.Random(f"{seed} {server}")  # noqa: S311  a choice, not a secret

    def write_until(self, over: threading.Event) -> None:
        for value in count(1000):
            if over.wait(_BETWEEN_WRITES):
                return
            self.node = self._stage.cluster.nodes[self._dice.choice(NODES)]
            try:
                path = f"/api/mcp/servers/{self.server}"
                reply = self.node.client.patch(path, json={"timeout": value})
            except (httpx2.HTTPError, RuntimeError):
                # The client of a node that was killed is closed.
                self.unknown.append(value)
                continue
            self.note(value, reply)


@contextlib.contextmanager
def _writing(writers: Sequence[RoamingWriter]) -> Generator[None]:
    over = threading.Event()
    with ThreadPoolExecutor(len(writers)) as pool:
        shares = [pool.submit(each.write_until, over) for each in writers]
        try:
            yield
        finally:
            over.set()
    for each in shares:
        each.result()


def chaos(scene: Scene, figures: Figures, options: ChaosOptions) -> None:
    """One fault after the other; each is over, and the cluster whole, before the next."""
    single, others = names_of(options.servers)
    dice = random.Random(options.seed)  # noqa: S311  a choice, not a secret
    faults: Counter[str] = Counter()
    with network() as net, scene.cluster(ttl=options.ttl) as cluster:
        stage = Stage(scene, cluster, dice, options.ttl)
        stage.prepare(net)
        for name in NODES:
            stage.start(name)
        wait_whole(cluster)
        register_all([*cluster.nodes.values()], scene.recording, single + others)
        writers = [_new_writer(stage, number, options.seed) for number in range(WRITERS)]
        with psycopg.connect(cluster.dsn, autocommit=True) as connection:
            connection.execute(_KEPT_NOTES)
        ports = {name: port_of(node) for name, node in cluster.nodes.items()}
        pause = options.callers / (2.5 * _CALLS_A_SECOND)
        with calling_all(
            ports, single + others, width=options.callers, pause=pause, seed=options.seed
        ) as pool:
            stage.pool = pool
            with _writing(writers):
                over = boot_time() + options.minutes * 60
                for fault in _in_turn(stage, options, over):
                    faults[fault.__name__.strip("_")] += 1
                    fault(stage)
                    wait_whole(cluster)
                    stage.wait(0.0, _BETWEEN_FAULTS)
        nodes = [*cluster.nodes.values()]
        silent = [each for each in single + others if not _answers_everywhere(nodes, each)]
        lost = sum(lost_promises(writer, nodes) for writer in writers)
        applied = notes(cluster.dsn, writers, "public.kept_notes")
        excess = sum(it.excess(new) for it, new in zip(writers, applied, strict=True))
    figures.show("chaos: faults", ", ".join(f"{n} {name}" for name, n in faults.items()))
    judge(figures, "chaos", scene, pool, single)
    figures.at_least("chaos: calls", len(pool.ended), options.expected)
    answered = 100 * (1 - len(pool.failed()) / len(pool.ended))
    figures.at_least("chaos: calls that were answered", answered, _ANSWERED, " %")
    figures.at_most("chaos: servers without an answer in the end", len(silent), 0)
    _show_changes(figures, writers)
    figures.at_most("chaos: promised changes that are lost", lost, 0)
    figures.at_most("chaos: changes applied twice, or not at all", excess, 0)


def _in_turn(stage: Stage, options: ChaosOptions, over: float) -> Iterator[Fault]:
    """Every fault in random order, and all of them again until the time is over.

    A machine that has other work makes fewer calls: it gets up to twice the time for them.
    """
    faults, latest = options.faults or FAULTS, over + options.minutes * 60

    def goes_on() -> bool:
        calls = len(stage.pool.ended) if stage.pool else 0
        return boot_time() < (latest if calls < options.expected else over)

    rounds = 0
    while goes_on() or not rounds:
        for fault in stage.dice.sample(faults, len(faults)):
            if goes_on() or not rounds:
                yield fault
        rounds += 1


def _show_changes(figures: Figures, writers: Sequence[RoamingWriter]) -> None:
    promised, unknown = (
        sum(len(each.promised) for each in writers),
        sum(len(each.unknown) for each in writers),
    )
    refused = sum(each.refused for each in writers)
    figures.show("chaos: changes, promised, unknown, refused", f"{promised}, {unknown}, {refused}")


def _answers_everywhere(nodes: Sequence[RunningNode], server: str) -> bool:
    """Whether a call at each node is answered: each waits for a server that is on its way."""
    return all(node.call(server, "record").status_code == _OK for node in nodes)


def _new_writer(stage: Stage, number: int, seed: int) -> RoamingWriter:
    writer = RoamingWriter(stage, f"edited{number}", seed)
    body = {**stage.scene.recording.server(writer.server), "start": False}
    writer.id = writer.node.register(writer.server, body, start=False)["id"]
    return writer
