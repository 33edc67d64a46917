"""Links that are cut, nodes that die, sleep, or lose the database."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from mcpyard.cluster.admission import Verdict
from mcpyard.domain.cause import Code
from mcpyard.domain.cluster import Placement
from mcpyard.domain.desired import Desired
from mcpyard.domain.errors import Disconnected, TimedOut
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.observed import Capabilities, Items, Observed, Tools
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh import routing
from mcpyard.mesh.messages import NodeReport
from mcpyard.mesh.picture import PlacementRules
from mcpyard.runtime.session_runner import make_tools
from tests.mesh.nodes import ECHO, ClusterNode, TestCluster, cluster_in
from tests.mesh.relay import Relay, relay_to

TERMS = CallTerms(timeout=12)


class Cut(NamedTuple):
    """Two nodes with a relay between them, the second of which runs the server `echo`."""

    asker: ClusterNode
    owner: ClusterNode
    relay: Relay
    cluster: TestCluster


@asynccontextmanager
async def relayed(folder: Path) -> AsyncGenerator[Cut]:
    async with cluster_in(folder) as cluster:
        cluster.place("n2")
        asker, owner = cluster.node("n1"), cluster.node("n2")
        async with relay_to(await owner.listen()) as relay:
            await asker.start()
            await owner.join(relay.address)
            cluster.hint()
            await asker.linked("n2")
            await owner.linked("n1")
            await asker.until(lambda: shown(asker) is Phase.CONNECTED)
            yield Cut(asker, owner, relay, cluster)


def shown(node: ClusterNode) -> Phase | None:
    observed = node.mesh.observed().get(ECHO)
    return observed.state.phase if observed else None


@pytest.mark.parametrize("how", ["reset", "cut"])
async def test_a_link_lost_in_flight_fails_the_call_and_never_sends_it_again(
    tmp_path: Path, how: str
) -> None:
    async with relayed(tmp_path) as (asker, owner, relay, _):
        begun = asyncio.Event()

        async def script(_tool: str, _arguments: bytes, _terms: CallTerms) -> bytes:
            begun.set()
            await asyncio.Event().wait()
            return b""

        owner.scripted.scripts["echo"] = script
        call = asyncio.create_task(asker.mesh.call(ECHO, "say", b"{}", TERMS))
        await begun.wait()
        relay.reset() if how == "reset" else relay.cut()
        with pytest.raises(Disconnected) as caught:
            await call
        assert not caught.value.untaken
        relay.heal()
        await asker.linked("n2")
        assert len(owner.scripted.calls) == 1


async def test_a_far_server_is_shown_as_disconnected_until_its_node_is_back(tmp_path: Path) -> None:
    async with relayed(tmp_path) as (asker, owner, relay, _):
        owner.scripted.answers["echo"] = lambda _tool, arguments: arguments
        relay.cut()
        await asker.until(lambda: shown(asker) is Phase.BACKOFF)
        cause = asker.mesh.observed()[ECHO].state.cause
        assert cause
        assert cause.message == 'node "n2" cannot be reached'
        relay.heal()
        await asker.until(lambda: shown(asker) is Phase.CONNECTED)
        assert await asker.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"


async def test_a_node_that_never_saw_a_server_offers_the_tools_that_are_remembered(
    tmp_path: Path,
) -> None:
    async with relayed(tmp_path) as cut:
        picture = cut.asker.mesh.picture
        tools = make_tools([{"name": "remembered", "inputSchema": {}}], stale=True)
        picture.recall = lambda server: Observed(server, tools=tools)
        picture.observed.clear()
        picture.take_report("n2", NodeReport(full=True))
        observed = picture.refresh(ECHO)
        assert observed
        assert [each.name for each in observed.tools.definitions] == ["remembered"]
        assert observed.tools.stale


async def test_a_node_that_starts_tells_of_no_losses_before_it_has_looked(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        one, two = await cluster.start("n1", "n2")
        for node in (one, two):
            await node.until(lambda node=node: shown(node) is Phase.CONNECTED)
            assert Phase.BACKOFF not in {each.state.phase for each in node.observed}
        await one.mesh.links.close()
        await two.until(lambda: shown(two) is Phase.BACKOFF)


async def test_tools_that_become_known_after_the_first_look_are_offered(tmp_path: Path) -> None:
    async with relayed(tmp_path) as cut:
        picture, local = cut.asker.mesh.picture, cut.owner.mesh.held()[ECHO]
        unlisted = replace(local, state=State(Phase.CONNECTING), session=None, tools=Tools())
        picture.observed.clear()
        for names in ([], ["arrived"]):
            tools = make_tools([{"name": each, "inputSchema": {}} for each in names], stale=True)
            picture.recall = lambda server, tools=tools: Observed(server, tools=tools)
            for report in (NodeReport(full=True), NodeReport((unlisted,), full=True)):
                picture.take_report("n2", report)
                observed = picture.refresh(ECHO)
                assert observed
                assert [each.name for each in observed.tools.definitions] == names


async def test_what_a_server_without_tools_offers_is_kept_while_it_starts(tmp_path: Path) -> None:
    async with relayed(tmp_path) as cut:
        picture, local = cut.asker.mesh.picture, cut.owner.mesh.held()[ECHO]
        offer = Capabilities(prompts=Items(({"name": "greet"},)))
        starting = replace(local, state=State(Phase.CONNECTING), session=None, tools=Tools())
        for report in (replace(starting, offer=offer), starting):
            picture.take_report("n2", NodeReport((report,), full=True))
            observed = picture.refresh(ECHO)
            assert observed
            assert observed.offer == offer


async def test_a_server_is_told_of_whose_definition_arrives_last(tmp_path: Path) -> None:
    async with relayed(tmp_path) as (asker, owner, _, _):
        asker.want(Desired({}))
        assert ECHO not in asker.mesh.observed()
        asker.observed.clear()
        asker.want(owner.desired)
        assert [(each.id, each.state.phase) for each in asker.observed] == [(ECHO, Phase.CONNECTED)]
        asker.observed.clear()
        asker.reconcile()
        assert not asker.observed


async def test_calls_to_a_node_that_lives_behind_a_cut_are_refused(tmp_path: Path) -> None:
    async with relayed(tmp_path) as (asker, owner, relay, _):
        relay.cut()
        await asker.until(lambda: not asker.mesh.links.get("n2"))
        with pytest.raises(Disconnected, match='node "n2" cannot be reached') as caught:
            await asker.mesh.call(ECHO, "say", b"{}", CallTerms(timeout=60))
        assert caught.value.untaken
        assert caught.value.cause
        assert "network between the nodes" in caught.value.cause.hint
        assert not owner.scripted.calls
        assert owner.view.lease.epoch == 1


async def test_calls_wait_for_the_servers_of_a_killed_node(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n3")
        one, two, three = await cluster.start("n1", "n2", "n3")
        for node in (one, two):
            node.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await one.until(lambda: shown(one) is Phase.CONNECTED)
        await three.die()
        for node in (one, two):
            await node.until(lambda node=node: not node.mesh.links.get("n3"))
        answers = await asyncio.gather(
            *(node.mesh.call(ECHO, "say", b'{"n":1}', TERMS) for node in (one, two))
        )
        assert answers == [b'{"n":1}'] * 2
        placement = cluster.tables.placed[ECHO]
        assert placement.node in ("n1", "n2")
        assert placement.fence == 2
        assert one.membership
        assert two.membership
        assert one.membership.duties.takeovers + two.membership.duties.takeovers >= 1


async def test_a_node_that_is_asked_in_vain_names_the_new_owner(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n2")
        one, two, three = await cluster.start("n1", "n2", "n3")
        three.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await one.until(lambda: shown(one) is Phase.CONNECTED)
        assert one.membership
        await one.membership.close()
        for node in (two, three):
            node.mesh.learn([Placement(ECHO, "n3", 2)], from_store=False)
        cluster.tables.placed[ECHO] = Placement(ECHO, "n3", 2)
        await three.until(lambda: ECHO in three.mesh.held())
        assert one.view.admission.placements[ECHO].node == "n2"
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        assert one.view.admission.placements[ECHO] == Placement(ECHO, "n3", 2)
        assert not two.scripted.calls


async def test_a_server_without_a_node_is_waited_for_within_the_limit_of_the_call(
    tmp_path: Path,
) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.rules["echo"] = PlacementRules(labels={"gpu": "yes"})
        (one,) = await cluster.start("n1")
        with pytest.raises(TimedOut, match="did not get a node") as caught:
            await one.mesh.call(ECHO, "say", b"{}", CallTerms(timeout=0.2))
        assert not caught.value.sent
        await one.until(lambda: one.mesh.observed()[ECHO].state.cause)
        cause = one.mesh.observed()[ECHO].state.cause
        assert cause
        assert cause.message == "no node runs this server at the moment"


async def test_a_node_that_slept_asks_before_it_takes_a_call(tmp_path: Path) -> None:
    async with cluster_in(tmp_path, ttl=30) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        two.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await one.until(lambda: ECHO in one.mesh.held())
        cluster.tables.placed[ECHO] = Placement(ECHO, "n2", 2)
        one.clock.ahead += 20
        assert one.view.admission.check(ECHO, singleton=False) is Verdict.WAIT
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        assert not one.scripted.calls


async def test_a_node_that_slept_without_the_database_asks_its_peers(tmp_path: Path) -> None:
    async with cluster_in(tmp_path, ttl=60) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        two.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await one.until(lambda: ECHO in one.mesh.held())
        one.leases.away = True
        cluster.tables.placed[ECHO] = Placement(ECHO, "n2", 2)
        two.view.admission.learn([Placement(ECHO, "n2", 2)], from_store=True)
        two.reconcile()
        one.clock.ahead += 20
        assert one.view.admission.check(ECHO, singleton=False) is Verdict.WAIT
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        assert not one.scripted.calls


async def test_without_the_database_servers_run_on_and_singletons_end(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.rules["echo"] = PlacementRules(singleton=True)
        (one,) = await cluster.start("n1")
        one.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await one.until(lambda: shown(one) is Phase.CONNECTED)
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        one.leases.away = True
        await one.until(lambda: not one.view.lease.covers(one.clock()))
        await one.until(lambda: ECHO not in one.mesh.held())
        assert one.membership
        assert not one.membership.isolated
        one.leases.away = False
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        assert cluster.tables.placed[ECHO].fence == 1
        assert one.deadlines == sorted(one.deadlines)


async def test_a_singleton_that_waits_for_the_database_says_so_on_every_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "LONGEST_WAIT", 0.3)
    async with cluster_in(tmp_path) as cluster:
        cluster.rules["echo"] = PlacementRules(singleton=True)
        cluster.place("n1")
        nodes = await cluster.start("n1", "n2")
        for node in nodes:
            await node.until(lambda node=node: shown(node) is Phase.CONNECTED)
            node.leases.away = True
        for node in nodes:
            await node.until(lambda node=node: shown(node) is Phase.BACKOFF)
            cause = node.mesh.observed()[ECHO].state.cause
            assert cause
            assert cause.code is Code.LEASE_EXPIRED
            with pytest.raises(Disconnected, match="database") as caught:
                await node.mesh.call(ECHO, "say", b"{}", TERMS)
            assert caught.value.untaken
        for node in nodes:
            node.leases.away = False
        for node in nodes:
            await node.until(lambda node=node: shown(node) is Phase.CONNECTED)


async def test_without_the_database_nothing_is_restarted_and_nobody_taken_over(
    tmp_path: Path,
) -> None:
    async with cluster_in(tmp_path, ttl=2) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        one.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await two.until(lambda: shown(two) is Phase.CONNECTED)
        applied = [*one.scripted.applied]
        one.leases.away = two.leases.away = True
        await one.until(lambda: not one.view.lease.covers(one.clock()))
        assert await two.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        assert one.scripted.applied == applied
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n1", 1)
        assert two.membership
        assert not two.membership.isolated
        await one.mesh.links.close()
        await two.until(lambda: two.membership and two.membership.isolated)


async def test_results_of_an_isolated_node_are_marked(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        one.scripted.answers["echo"] = lambda _tool, arguments: arguments
        await one.until(lambda: shown(one) is Phase.CONNECTED)
        result = b'{"content":[],"_meta":{"a":1.50}}'
        one.leases.away = True
        await one.until(lambda: one.view.database_away)
        assert await one.mesh.call(ECHO, "say", result, TERMS) == result
        await two.die()
        await one.until(lambda: one.membership and one.membership.isolated)
        mark = b'{"content":[],"_meta":{"a":1.50,"mcpyard/isolated":true}}'
        assert await one.mesh.call(ECHO, "say", result, TERMS) == mark
        assert await one.mesh.request(ECHO, "resources/read", result, TERMS) == mark
        assert await one.mesh.call(ECHO, "say", b"[]", TERMS) == b"[]"


async def test_a_node_that_was_taken_over_stops_its_copies_and_joins_again(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        await one.until(lambda: ECHO in one.mesh.held())
        one.leases.away = True
        await two.until(lambda: cluster.tables.placed[ECHO].node == "n2")
        # The news come over the link, not from the database.
        await one.until(lambda: ECHO not in one.mesh.held())
        one.leases.away = False
        await one.until(lambda: one.view.lease.epoch == 3)
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 2)
