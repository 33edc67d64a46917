"""A cluster on a simulated Ray cluster: a head and three nodes of loopback.

`python -m bench.cluster_ray`, with Ray in `.venv-ray`, which `scripts/prove cluster_ray` makes. By
hand only: Ray is large, and its processes take minutes to come and go.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx2
import psutil

from bench.measuring import ROOT, Figures
from tests.cli.commands import echo
from tests.postgres import KEY, running

PROGRAMS = ROOT / ".venv-ray" / "bin"
HEAD, PORT = "127.0.0.5", 6399
MACHINES = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
SERVERS = 6
TOKEN = "the-" + "token"
MARK = "MCPYARD_RAY_PROOF"
SECONDS = 90.0


class RayCluster:
    """The processes of Ray on this machine, a foreground process for each of its nodes."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment
        self.nodes: dict[str, subprocess.Popen[bytes]] = {}

    def start_head(self) -> None:
        words = ("--head", f"--port={PORT}", "--include-dashboard=false")
        self._start(HEAD, 0, *words, f"--temp-dir={self.folder / 'r'}")

    def start(self, address: str) -> None:
        self._start(address, int(address.rpartition(".")[2]), f"--address={HEAD}:{PORT}")

    def _start(self, address: str, number: int, *words: str) -> None:
        first = 20_000 + 1000 * number
        command = [str(PROGRAMS / "ray"), "start", "--block", f"--node-ip-address={address}"]
        command += ["--num-cpus=1", "--object-store-memory=80000000", "--disable-usage-stats"]
        command += ["--dashboard-agent-listen-port=0"]
        command += [f"--min-worker-port={first}", f"--max-worker-port={first + 900}", *words]
        with (self.folder / f"ray-{address}.log").open("ab") as log:
            self.nodes[address] = subprocess.Popen(
                command, stdout=log, stderr=log, env=self.environment, start_new_session=True
            )

    def kill(self, address: str) -> list[psutil.Process]:
        """End all processes of a node as if its machine was gone, but no daemon of ours."""
        started = self.nodes.pop(address)
        try:
            process = psutil.Process(started.pid)
        except psutil.NoSuchProcess:
            return []
        tree = [process, *process.children(recursive=True)]
        ours = [each for each in tree if is_daemon(each)]
        theirs = [each for each in tree if each not in {*ours, *descendants(ours)}]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for each in theirs:
                with contextlib.suppress(psutil.NoSuchProcess):
                    each.send_signal(number)
        return ours

    def close(self) -> None:
        for address in [*self.nodes]:
            self.kill(address)


def is_daemon(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return "--parent-pipe" in process.cmdline()
    return False


def descendants(processes: list[psutil.Process]) -> list[psutil.Process]:
    children: list[psutil.Process] = []
    for each in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            children += each.children(recursive=True)
    return children


def marked(mark: str) -> list[psutil.Process]:
    """The daemons and servers that live, but no process of Ray."""
    return [
        each
        for each in psutil.process_iter(["environ", "cmdline", "status"])
        if (each.info["environ"] or {}).get(MARK) == mark
        and any(is_our_word(word) for word in each.info["cmdline"] or ())
        and each.info["status"] != psutil.STATUS_ZOMBIE
    ]


def is_our_word(word: str) -> bool:
    return word == "mcpyard" or word.startswith("mcpyard.") or word.endswith("echo_server.py")


def until(condition: Callable[[], object], what: str, seconds: float = SECONDS) -> float:
    """Seconds until something is so."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            sys.exit(f"not so within {seconds:g} s: {what}")
        time.sleep(0.1)  # noqa: TID251  a bench that waits for other programs
    return time.monotonic() - began


class Proof:
    """The parts of the proof, over one cluster."""

    def __init__(self, folder: Path, dsn: str, figures: Figures) -> None:
        self.figures = figures
        self.mark = str(folder)
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MCPYARD_", "RAY_"))}
        self.environment = clean | {
            MARK: self.mark,
            "MCPYARD_HOME": str(folder / "home"),
            "MCPYARD_CLUSTER": dsn,
            "MCPYARD_KEY": KEY,
            "MCPYARD_TOKEN": TOKEN,
            # Several machines on one, and no network but loopback.
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",
        }
        self.ray = RayCluster(folder, self.environment)
        self.urls: dict[str, str] = {}
        self._seen: set[psutil.Process] = set()

    def left(self) -> list[psutil.Process]:
        """Every process of ours that lives; keepers have no mark, but daemons that tell of them."""
        processes = marked(self.mark)
        self._seen |= {*processes, *descendants(processes)}
        return [each for each in self._seen if alive(each)]

    def command(self, *words: object) -> Any:  # noqa: ANN401  any JSON
        command = [str(PROGRAMS / "mcpyard"), *map(str, words), "--json"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)

    def up(self) -> None:
        words = ("--ray-address", f"{HEAD}:{PORT}", "--port", 0, "--node-port", 0)
        nodes = self.command("cluster", "ray", "up", *words, "--node-ttl", 3)
        self.urls = {each["node"]: each["url"] for each in nodes}

    def down(self) -> None:
        self.command("cluster", "ray", "down", "--ray-address", f"{HEAD}:{PORT}")

    def client(self, address: str) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return httpx2.Client(base_url=self.urls[node_of(address)], headers=headers, timeout=30)

    def states(self, client: httpx2.Client) -> dict[str, str]:
        return {each["name"]: each["state"] for each in client.get("/api/cluster").json()["nodes"]}

    def begin(self) -> None:
        self.command("cluster", "init")
        began = time.monotonic()
        self.ray.start_head()
        # A machine that comes before the head gives up.
        until(lambda: self._joined(1), "the head of the Ray cluster is up")
        for number, each in enumerate(MACHINES, 2):
            self.ray.start(each)
            until(lambda number=number: self._joined(number), f"{each} is in the Ray cluster")
        self.figures.show("Ray: head and three nodes up", f"{time.monotonic() - began:.1f} s")

    def _joined(self, number: int) -> bool:
        """Whether the Ray cluster has so many machines."""
        code = (
            f"import ray; ray.init('{HEAD}:{PORT}', logging_level='error'); print(len(ray.nodes()))"
        )
        command = [str(PROGRAMS / "python"), "-c", code]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=self.environment
        )
        return done.stdout.strip().endswith(str(number))

    def down_and_up(self) -> None:
        """End all nodes while they run servers, and start them again."""
        running = len(self.left())
        least = 2 * len(MACHINES) + SERVERS
        self.figures.at_least("ray down: processes before", running, least)
        self.down()
        until(lambda: not self.left(), "no process is left after ray down")
        self.figures.at_most("ray down: processes left", len(self.left()), 0)
        self.up()
        with self.client(MACHINES[0]) as client:
            self.until_connected(client)

    def fill(self) -> None:
        self.up()
        self.figures.at_least("ray up: nodes that answer", sum(map(bool, self.urls.values())), 3)
        with self.client(MACHINES[0]) as client:
            for number in range(SERVERS):
                body = {
                    "name": f"s{number}",
                    **echo(),
                    "env": {MARK: self.mark},
                    "scope": "user",
                    "start": True,
                }
                client.post("/api/mcp/servers", json=body).raise_for_status()
            self.until_connected(client)

    def until_connected(self, client: httpx2.Client) -> float:
        def all_connected() -> bool:
            records = client.get("/api/mcp/servers").json()
            return {each["status"] for each in records} == {"connected"}

        return until(all_connected, "all servers are connected")

    def calls(self, client: httpx2.Client, rounds: int) -> int:
        """How many calls fail or give a wrong answer."""
        failed = 0
        for number in range(rounds):
            path = f"/api/mcp/servers/s{number % SERVERS}/tools/echo/call"
            reply = client.post(path, json={"arguments": {"text": str(number)}})
            right = reply.is_success and reply.json()["content"][0]["text"] == str(number)
            failed += not right
        return failed

    def machine_killed(self) -> None:
        """A machine of Ray is gone, and is back."""
        self.left()
        gone = MACHINES[1]
        name = node_of(gone)
        with self.client(MACHINES[0]) as client:
            daemons = self.ray.kill(gone)
            self.figures.at_least("machine killed: daemons there", len(daemons), 1)
            took = until(lambda: not any(map(alive, daemons)), "the daemon ends with its actor")
            self.figures.at_most("machine killed: until its daemon ended", took, 20, " s")
            took = until(lambda: self.states(client)[name] != "up", "the node is gone")
            self.until_connected(client)
            self.figures.at_most("machine killed: failed calls", self.calls(client, 300), 0)
            self.ray.start(gone)
            took = until(lambda: self.states(client)[name] == "up", "the node is back")
            self.figures.at_most("machine back: until its daemon is", took, SECONDS, " s")
            client.post("/api/mcp/servers/s0/move", json={"node": name}).raise_for_status()
            took = until(lambda: self.is_on(client, "s0", name), "it takes placements again")
            self.figures.at_most("machine back: until it runs a server", took, 30, " s")

    def is_on(self, client: httpx2.Client, server: str, node: str) -> bool:
        record = client.get(f"/api/mcp/servers/{server}").json()
        return (record["node"], record["status"]) == (node, "connected")

    def worker_killed(self) -> None:
        """The process of an actor is killed: its daemon is replaced and leaves nothing."""
        (daemon,) = [
            each
            for each in self.left()
            if is_daemon(each) and node_of(MACHINES[2]) in each.cmdline()
        ]
        family = [daemon, *daemon.children(recursive=True)]
        worker = daemon.parent()
        assert worker
        worker.kill()
        took = until(lambda: not any(map(alive, family)), "the daemon of a killed worker ends")
        self.figures.at_most("worker killed: until daemon and servers ended", took, 20, " s")
        with self.client(MACHINES[0]) as client:
            name = node_of(MACHINES[2])

            def again() -> bool:
                return (
                    any(is_daemon(each) and name in each.cmdline() for each in self.left())
                    and self.states(client).get(name) == "up"
                )

            took = until(again, "Ray starts the actor again")
            self.figures.at_most("worker killed: until a daemon is back", took, 30, " s")
            self.until_connected(client)

    def head_killed(self) -> None:
        """Ray's head is gone for good."""
        with self.client(MACHINES[0]) as client:
            self.ray.kill(HEAD)
            until(lambda: not head_listens(), "nothing listens for Ray's head any more", 10)
            until_ = time.monotonic() + 30
            failed = rounds = 0
            while time.monotonic() < until_:
                failed += self.calls(client, 60)
                rounds += 60
            self.figures.at_least("head killed: calls in the 30 s after it", rounds, 1000)
            self.figures.at_most("head killed: failed calls", failed, 0)

    def end(self) -> None:
        """Everything of Ray is killed at once."""
        self.left()
        self.ray.close()
        until(lambda: not self.left(), "no process is left when Ray is gone")
        self.figures.at_most("Ray killed: processes left", len(self.left()), 0)


def node_of(address: str) -> str:
    return f"ray-{address.replace('.', '-')}"


def head_listens() -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((HEAD, PORT), 5).close()
        return True
    return False


def alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


@contextlib.contextmanager
def proof(figures: Figures) -> Generator[Proof]:
    # The paths of Ray's sockets must be short.
    with tempfile.TemporaryDirectory(prefix="mr-") as folder, running() as postgres:
        it = Proof(Path(folder), postgres.dsn(postgres.new_database()), figures)
        try:
            yield it
        except SystemExit:
            for each in Path(folder).glob("ray-*.log"):
                print(each.name, each.read_text()[-1500:], sep="\n", file=sys.stderr)
            raise
        finally:
            it.ray.close()


def main() -> None:
    figures = Figures()
    with proof(figures) as it:
        it.begin()
        it.fill()
        it.down_and_up()
        it.machine_killed()
        it.worker_killed()
        it.head_killed()
        it.end()
    figures.leave()


if __name__ == "__main__":
    main()
