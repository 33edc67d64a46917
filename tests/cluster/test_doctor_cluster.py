"""What `mcpyard doctor` says about a cluster."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Generator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mcpyard.mesh.certificates import make_certificate
from mcpyard.store.postgres.schema import CLUSTER
from tests.cli.commands import answer, mcpyard
from tests.cluster.nodes import TOKEN, ClusterOfNodes
from tests.free_ports import free_port
from tests.postgres import KEY, Postgres, as_user, program, running

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

Findings = Mapping[str, Mapping[str, Any]]


def findings(home: Path, dsn: str, code: int = 0) -> Findings:
    report = answer(
        "doctor",
        home=home,
        code=code,
        MCPYARD_CLUSTER=dsn,
        MCPYARD_KEY=KEY,
        MCPYARD_TOKEN=TOKEN,
    )
    return {each["check"]: each for each in report["findings"]}


def test_a_machine_without_a_cluster_has_no_check_of_one(tmp_path: Path) -> None:
    checks = findings(tmp_path / "home", "")
    assert not [each for each in checks if "cluster" in each or "certificate" in each]


def test_a_node_is_checked_with_its_database_and_its_certificate(tmp_path: Path, dsn: str) -> None:
    cluster = ClusterOfNodes(tmp_path / "cluster", dsn)
    home = cluster.folder / "n1"
    try:
        cluster.start("n1")
        checks = findings(home, dsn)
        database, changes = checks["cluster database"], checks["cluster changes"]
        certificate = checks["node certificate"]
        assert {each["status"] for each in (database, changes, certificate)} == {"ok"}
        assert f"schema version {len(CLUSTER)}, the key fits" in database["message"]
        assert certificate["message"].startswith("of n1, valid until 2")
        assert "cluster replicas" not in checks
        assert checks["cluster nodes"]["message"] == "every node can be reached (1)"
        authority, out = cluster.folder / "operator" / "cluster-ca", cluster.certificates
        make_certificate(authority, "n1", out, valid=timedelta(days=29))
        soon = findings(home, dsn)["node certificate"]
        assert soon["status"] == "warn"
        in_place = "put the files of a new one in place of the old ones, without a restart"
        assert soon["fix"] == f"{in_place}: mcpyard cluster cert n1"
        make_certificate(authority, "n1", out, valid=timedelta(days=-1))
        expired = findings(home, dsn, code=1)["node certificate"]
        assert (expired["status"], "expired on" in expired["message"]) == ("fail", True)
    finally:
        cluster.close()
    # The home was a node, and the shell has no variables.
    missing = findings(home, "", code=1)["cluster database"]
    assert missing["message"] == "MCPYARD_CLUSTER has no address of a database"


NO_TRANSACTIONS = b"SFATAL\0C08P01\0Mtransaction blocks not allowed in statement pooling mode\0\0"


class Pooler:
    """A relay to a database that passes no notifications on, as a pooler.

    Its mode is that of PgBouncer: transactions are refused in that of statements.
    """

    def __init__(self, port: int, mode: str = "transaction") -> None:
        self._target = port
        self._ask = _ask_statements if mode == "statement" else _ask
        self._sockets = [socket.create_server(("127.0.0.1", 0))]
        self.port: int = self._sockets[0].getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for each in self._sockets:
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._sockets[0].accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [client, server]
                for work in (self._ask, _answer):
                    thread = threading.Thread(target=work, args=(client, server))
                    self._threads.append(thread)
                    thread.start()


def _ask(client: socket.socket, server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := client.recv(1 << 16):
            server.sendall(data)
        server.shutdown(socket.SHUT_RDWR)


def _ask_statements(client: socket.socket, server: socket.socket) -> None:
    """Pass on what begins no transaction."""
    with contextlib.suppress(OSError):
        while data := client.recv(1 << 16):
            if data.startswith(b"Q") and b"BEGIN" in data:
                length = len(NO_TRANSACTIONS) + 4
                client.sendall(b"E" + length.to_bytes(4, "big") + NO_TRANSACTIONS)
                break
            server.sendall(data)
        client.shutdown(socket.SHUT_RDWR)
        server.shutdown(socket.SHUT_RDWR)


def _answer(client: socket.socket, server: socket.socket) -> None:
    with contextlib.suppress(OSError), server.makefile("rb") as stream:
        while head := stream.read(5):
            body = stream.read(int.from_bytes(head[1:], "big") - 4)
            if head[:1] != b"A":
                client.sendall(head + body)


def through(pooler: Pooler, postgres: Postgres, dsn: str) -> str:
    """The DSN of a database behind a pooler."""
    database = dsn.rpartition("/")[2]
    return f"{postgres.dsn(database, pooler.port)}?sslmode=disable&gssencmode=disable"


def test_hints_that_a_pooler_keeps_back_are_noticed(
    tmp_path: Path, postgres: Postgres, cluster_dsn: str
) -> None:
    relay = Pooler(postgres.port)
    dsn = through(relay, postgres, cluster_dsn)
    try:
        checks = findings(tmp_path / "home", dsn)
    finally:
        relay.close()
    assert checks["cluster database"]["status"] == "ok"
    assert checks["cluster changes"]["status"] == "warn"
    assert "pooler in session mode" in checks["cluster changes"]["fix"]


def test_a_pooler_without_transactions_is_refused(
    tmp_path: Path, postgres: Postgres, cluster_dsn: str
) -> None:
    pooler = Pooler(postgres.port, "statement")
    dsn = through(pooler, postgres, cluster_dsn)
    sentence = "the pooler of the database allows no transactions"
    try:
        database = findings(tmp_path / "home", dsn, code=1)["cluster database"]
        assert (database["status"], database["message"]) == ("fail", sentence)
        made = mcpyard("cluster", "init", home=tmp_path, MCPYARD_CLUSTER=dsn, MCPYARD_KEY=KEY)
        error, hint = made.stderr.splitlines()
        assert error == f"error: {sentence}"
        assert hint.startswith("hint: Set its pool mode to session or transaction")
    finally:
        pooler.close()


@contextlib.contextmanager
def replica_of(postgres: Postgres) -> Generator[int]:
    """A replica that follows a database; its port."""
    folder, port = postgres.folder / "replica", free_port()
    copy = [str(program("pg_basebackup")), "-h", "127.0.0.1", "-p", str(postgres.port)]
    copy += ["-U", "mcpyard", "-D", str(folder), "-R", "-X", "stream", "--checkpoint=fast"]
    subprocess.run([*as_user(), *copy], check=True, cwd=postgres.folder)
    run = [str(program("postgres")), "-D", str(folder), "-c", f"port={port}"]
    run += ["-c", f"unix_socket_directories={folder}", "-c", "max_connections=80"]
    run += ["-c", "listen_addresses=127.0.0.1"]
    with subprocess.Popen(
        [*as_user(), *run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    ) as process:
        try:
            ready = [str(program("pg_isready")), "-q", "-h", "127.0.0.1", "-p", str(port)]
            while subprocess.run(ready, check=False).returncode:
                assert process.poll() is None
            yield port
        finally:
            os.kill(process.pid, signal.SIGQUIT)
            process.wait(30)


def test_asynchronous_replicas_are_warned_of_and_cannot_be_the_database(tmp_path: Path) -> None:
    with running() as postgres:
        dsn = postgres.new_cluster()
        with replica_of(postgres) as port:
            home = tmp_path / "home"
            replicas = findings(home, dsn)["cluster replicas"]
            assert replicas["status"] == "warn"
            assert replicas["message"].startswith("1 asynchronous: ")
            database = dsn.rpartition("/")[2]
            check = findings(home, postgres.dsn(database, port), code=1)["cluster database"]
            assert check["message"].endswith("is a replica and cannot be written")
            postgres.administer("ALTER SYSTEM SET synchronous_standby_names = '*'")
            postgres.administer("SELECT pg_reload_conf()")
            assert "cluster replicas" not in findings(home, dsn)
