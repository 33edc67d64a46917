"""A daemon that another program runs, as an actor of Ray does; Ray itself is not needed."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from mcpyard.cli.daemon.hosted_node import HostedNode, NodeHost
from mcpyard.mesh.certificates import make_authority, make_certificate
from mcpyard.store.home import Home
from tests.cli.commands import TIMEOUT, answer
from tests.postgres import KEY
from tests.process_families import all_gone

pytestmark = pytest.mark.real

HOLDER = """
import sys
from mcpyard.cli.daemon.hosted_node import NodeHost
from tests.cluster.test_hosted_nodes import hosted_in
from pathlib import Path
from typing import Any
print(NodeHost(hosted_in(Path(sys.argv[1]), sys.argv[2])).wait_ready(40), flush=True)
sys.stdin.read()
"""


def hosted_in(folder: Path, dsn: str) -> HostedNode:
    """What a machine needs, with a certificate that is made for it."""
    make_authority(folder / "ca")
    certificate, key, authority = make_certificate(folder / "ca", "n1", folder / "certs")
    files = certificate.read_bytes(), key.read_bytes(), authority.read_bytes()
    arguments = ("--port", "0", "--node", "n1", "--node-listen", "127.0.0.2:0")
    return HostedNode("n1", arguments, {"MCPYARD_CLUSTER": dsn, "MCPYARD_KEY": KEY}, files)


def test_a_daemon_that_ends_is_started_again_until_it_is_stopped(
    tmp_path: Path, cluster_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_HOME", str(tmp_path / "home"))
    node = hosted_in(tmp_path, cluster_dsn)
    assert node.home == tmp_path / "home-n1"
    host = NodeHost(node)
    try:
        assert host.wait_ready(TIMEOUT)
        first = Home(node.home).running()
        assert first
        assert not {KEY, cluster_dsn} & {*psutil.Process(first.pid).cmdline()}
        psutil.Process(first.pid).kill()
        assert host.wait_ready(TIMEOUT)
        second = Home(node.home).running()
        assert second
        assert second.pid != first.pid
        process = psutil.Process(second.pid)
    finally:
        host.stop()
    assert not process.is_running()


def test_a_daemon_ends_with_the_program_that_runs_it(tmp_path: Path, cluster_dsn: str) -> None:
    home = tmp_path / "home"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), cluster_dsn],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"MCPYARD_HOME": str(home)},
        cwd=Path(__file__).parents[2],
    )
    with holder:
        assert holder.stdout
        assert holder.stdout.readline().startswith(b"http://")
        running = Home(tmp_path / "home-n1").running()
        assert running
        daemon = psutil.Process(running.pid)
        family = [daemon, *daemon.children(recursive=True)]
        holder.kill()
        assert all_gone(family, TIMEOUT)


def test_without_ray_it_is_said_how_to_install_it(tmp_path: Path) -> None:
    variables: dict[str, Any] = {"MCPYARD_CLUSTER": "postgresql://127.0.0.1/x", "MCPYARD_KEY": KEY}
    refused = answer("cluster", "ray", "up", home=tmp_path / "home", code=2, **variables)
    assert refused["error"]["detail"] == "Ray is not installed"
    assert refused["error"]["hint"] == "install it: pip install 'mcpyard[ray]'"
    refused = answer("cluster", "ray", "sideways", home=tmp_path / "home", code=2, **variables)
    assert refused["error"]["detail"] == "cluster ray needs up or down"
