"""Joining a cluster, and what a name is worth."""

import asyncio
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.domain.cluster import Node
from mcpyard.domain.errors import ClusterRefused, NodeTaken
from mcpyard.domain.model import Scope
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh.membership import Membership
from mcpyard.mesh.messages import PROTOCOL, Hello
from tests.mesh.nodes import ECHO, OTHER, ClusterNode, cluster_in, desired_servers


def described(node: ClusterNode, home: int, boot: str) -> Node:
    return Node(node.name, UUID(int=home), boot, "127.0.0.2:1", node.cluster.ttl)


async def join(node: ClusterNode, home: int, boot: str, *, replace: bool = False) -> None:
    self_described = described(node, home, boot)
    node.membership = Membership(
        self_described, node.leases, node.mesh, clock=node.clock, replace=replace
    )
    await node.membership.start()


async def test_a_daemon_that_was_killed_and_restarted_keeps_its_servers(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        before = cluster.node("n1")
        await join(before, 1, "boot")
        await before.die()
        after = cluster.node("n1")
        after.reconcile()
        await join(after, 1, "boot")
        await after.until(lambda: ECHO in after.mesh.held())
        assert after.view.lease.epoch == 2
        assert cluster.tables.placed[ECHO].fence == 1


async def test_after_a_boot_a_node_waits_for_the_lease_of_the_one_before(tmp_path: Path) -> None:
    async with cluster_in(tmp_path, ttl=2) as cluster:
        cluster.place("n1")
        before = cluster.node("n1")
        await join(before, 1, "boot")
        after = cluster.node("n1")
        joining = asyncio.create_task(join(after, 1, "another boot"))
        await before.until(lambda: cluster.tables.nodes["n1"].beat > 2)
        assert not joining.done()
        assert not after.view.admission.placements
        await before.die()
        await joining
        assert after.view.lease.epoch == 2
        assert cluster.tables.placed[ECHO].fence == 2


async def test_the_name_of_another_home_is_refused_unless_it_is_to_be_replaced(
    tmp_path: Path,
) -> None:
    async with cluster_in(tmp_path, ttl=2) as cluster:
        before = cluster.node("n1")
        await join(before, 1, "boot")
        other = cluster.node("n1")
        with pytest.raises(NodeTaken, match="another daemon has the node name"):
            await join(other, 7, "boot")
        await before.close()
        await join(other, 7, "boot", replace=True)
        assert cluster.tables.nodes["n1"].node.home == UUID(int=7)


async def test_without_the_database_a_new_daemon_runs_the_servers_of_its_own_files(
    tmp_path: Path,
) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        node = cluster.node("n1")
        node.leases.away = True
        node.want(desired_servers("other", scope=Scope.PROJECT))
        await join(node, 1, "boot")
        assert [*node.mesh.held()] == [OTHER]
        node.want(desired_servers("echo"))
        assert ECHO not in node.mesh.share(node.desired).servers
        node.leases.away = False
        await node.until(lambda: ECHO in node.mesh.held())


async def test_a_node_that_is_not_a_member_is_refused(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster, cluster_in(tmp_path) as elsewhere:
        member = cluster.node("n2")
        await member.start()
        elsewhere.tables.nodes["n2"] = cluster.tables.nodes["n2"]
        outsider = elsewhere.node("n1")
        await outsider.start()
        problems = outsider.mesh.links.problems
        await outsider.until(lambda: "n2" in problems)
        assert problems["n2"] == 'node "n1" is not in the list of members yet'
        assert not member.mesh.links.all()


def speak_the_first_protocol(node: ClusterNode) -> None:
    """Do as the version that knew only one number: say it, and refuse all others."""
    accept, name = node.mesh.accept, node.name

    def strictly(hello: Hello) -> None:
        if hello.protocol != 1:
            raise ClusterRefused(f'node "{hello.node}" speaks version {hello.protocol}')
        accept(hello)

    node.mesh.links._say = lambda: Hello(name, node.view.lease.epoch, 1, "0.1")
    node.mesh.accept = strictly


@pytest.mark.spec("F8.5")
@pytest.mark.parametrize("older", ["n1", "n2", "neither"])
async def test_nodes_speak_the_newest_protocol_that_both_know(tmp_path: Path, older: str) -> None:
    """The node with the smaller name dials."""
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n2")
        one, two = cluster.node("n1"), cluster.node("n2")
        for node in (one, two):
            if node.name == older:
                speak_the_first_protocol(node)
            await node.start()
        cluster.hint()
        await one.linked("n2")
        await two.linked("n1")
        links = one.mesh.links.get("n2"), two.mesh.links.get("n1")
        settled = PROTOCOL if older == "neither" else 1
        assert [each.protocol for each in links if each] == [settled, settled]
        two.scripted.answers["echo"] = lambda _tool, _arguments: b"{}"
        assert await one.mesh.call(ECHO, "say", b"{}", CallTerms(timeout=10)) == b"{}"


@pytest.mark.spec("F8.5")
async def test_nodes_without_a_common_protocol_refuse_each_other_politely(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        older, newer = cluster.node("n2"), cluster.node("n1")
        numbers = PROTOCOL + 1, PROTOCOL + 2
        newer.mesh.links._say = lambda: Hello("n1", 1, numbers[1], "9.0", numbers[0])
        await older.start()
        await newer.start()
        cluster.hint()
        problem = (
            'node "n1" (mcpyard 9.0) speaks versions 3 to 4 of the protocol between nodes, '
            "this one versions 1 to 2"
        )
        for node, other in ((newer, "n2"), (older, "n1")):
            problems = node.mesh.links.problems
            await node.until(lambda problems=problems, other=other: other in problems)
            assert problems[other] == problem
        assert not older.mesh.links.all()
