"""A cluster is backed up and restored, and gets another key and other certificates."""

import socket
from pathlib import Path
from typing import Any

import psycopg
import pytest

from mcpyard.domain.edges import EXIT_UNREACHABLE, EXIT_USAGE
from mcpyard.mesh.certificates import NodeCertificates, NodeFiles
from tests.cli.commands import Json, answer, echo
from tests.cluster.nodes import ClusterOfNodes, cluster_of
from tests.postgres import KEY

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

NEW_KEY = "another key"


class Operator:
    """Somebody at a machine that runs no node."""

    def __init__(self, home: Path, dsn: str, key: str = KEY, older: str = "") -> None:
        self.home = home
        self.variables: dict[str, Any] = {
            "MCPYARD_CLUSTER": dsn,
            "MCPYARD_KEY": key,
            "MCPYARD_KEY_OLD": older,
        }

    def run(self, *words: object, code: int = 0) -> Json:
        return answer(*words, home=self.home, code=code, **self.variables)

    def refused(self, *words: object, code: int) -> str:
        return self.run(*words, code=code)["error"]["detail"]


def shown_certificate(cluster: ClusterOfNodes, name: str) -> bytes | None:
    """The certificate that a node shows to others."""
    with psycopg.connect(cluster.dsn) as connection:
        query = "SELECT address FROM mcpyard.nodes WHERE name = %s"
        row = connection.execute(query, (name,)).fetchone()
    assert row
    host, _, port = row[0].rpartition(":")
    other = NodeCertificates("n3", NodeFiles.of(cluster.certificates, "n3"))
    with (
        socket.create_connection((host, int(port))) as raw,
        other.dialing.wrap_socket(raw, server_hostname=name) as connected,
    ):
        return connected.getpeercert(binary_form=True)


def test_a_cluster_is_backed_up_while_it_runs_and_restored_when_it_is_stopped(
    tmp_path: Path, cluster_dsn: str
) -> None:
    operator, backup = Operator(tmp_path / "operator", cluster_dsn), tmp_path / "backup.db"
    with cluster_of(tmp_path, cluster_dsn, "n1") as cluster:
        n1 = cluster.nodes["n1"]
        n1.register("echo", echo())
        assert operator.run("backup", backup)["servers"] == 1
        assert operator.refused("backup", backup, code=EXIT_USAGE) == f"{backup} exists already"
        n1.register("later", echo())
        detail = operator.refused("restore", backup, "--yes", code=EXIT_UNREACHABLE)
        assert detail == "nodes of the cluster are running: n1; stop them first"
        assert n1.up.end() == 0
        restored = operator.run("restore", backup, "--yes")
        assert restored["servers"] == 1
        n1 = cluster.start("n1")
        n1.until_connected("echo")
        assert n1.text_of("echo", "back") == "back"
        assert [each["name"] for each in n1.get("/api/mcp/servers")] == ["echo"]
        # What was replaced can be put back too.
        assert n1.up.end() == 0
        assert operator.run("restore", restored["replaced"], "--yes")["servers"] == 2


def test_a_backup_is_refused_where_it_does_not_belong(tmp_path: Path, cluster_dsn: str) -> None:
    operator, backup = Operator(tmp_path / "home", cluster_dsn), tmp_path / "backup.db"
    operator.run("backup", backup)
    nowhere = Operator(tmp_path / "home", "")
    detail = nowhere.refused("restore", backup, "--yes", code=EXIT_USAGE)
    assert detail == f"{backup} is the backup of a cluster and MCPYARD_CLUSTER is not set"
    other = Operator(tmp_path / "home", cluster_dsn, NEW_KEY)
    assert other.refused("restore", backup, "--yes", code=1) == (
        f"{backup} was sealed with another MCPYARD_KEY"
    )
    folder = tmp_path / "none" / "b.db"
    detail = operator.refused("backup", folder, code=EXIT_USAGE)
    assert detail == f"the folder {folder.parent} does not exist"


def test_nodes_run_on_while_key_and_certificates_change(tmp_path: Path, cluster_dsn: str) -> None:
    operator = Operator(tmp_path / "operator", cluster_dsn, NEW_KEY, KEY)
    both = {"MCPYARD_KEY": NEW_KEY, "MCPYARD_KEY_OLD": KEY}
    with cluster_of(tmp_path, cluster_dsn, "n1", "n2", **both) as cluster:
        n1, n2 = cluster.nodes["n1"], cluster.nodes["n2"]
        n1.register("echo", echo())
        n2.until_connected("echo")
        alone = Operator(operator.home, cluster_dsn, NEW_KEY)
        detail = alone.refused("cluster", "rotate-key", code=EXIT_USAGE)
        assert detail == "MCPYARD_KEY_OLD is not set"
        assert operator.run("cluster", "rotate-key") == {"sealed": 0, "unreadable": []}
        # Those that lose their connections are let in again.
        with psycopg.connect(cluster_dsn, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        before = shown_certificate(cluster, "n1")
        operator.run("cluster", "cert", "n1", "n2", "--out", cluster.certificates)
        n1.until(lambda: shown_certificate(cluster, "n1") != before)
        n1.until(lambda: n1.client.patch("/api/mcp/servers/echo", json={"timeout": 9}).is_success)
        assert n2.text_of("echo", "still") == "still"
        # One after another without the key of before.
        assert n2.up.end() == 0
        n2 = cluster.start("n2", MCPYARD_KEY=NEW_KEY)
        n2.until_connected("echo")
        assert n2.text_of("echo", "new") == "new"
