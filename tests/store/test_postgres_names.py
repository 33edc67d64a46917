"""Two nodes never give one exposed name to two tools, and both call a tool by the same one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from mcpyard.domain.desired import Definition, DesiredServer, DesireInputs, Document, Owner
from mcpyard.domain.desiring import desire
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.domain.observed import Observed, Tools
from mcpyard.domain.stored import StoredDefinition
from mcpyard.domain.tool import ToolDefinition
from mcpyard.store.postgres.store import ClusterStore
from mcpyard.yard.book import ToolBook
from tests.postgres import KEY

pytestmark = pytest.mark.real

USER = Owner(Scope.USER)
TOOLS = ("read", "read_", "write", "a b", "a.b", "a-b", "a_b")


class Node(NamedTuple):
    """A node with its book of tools, and the servers whose tools were renamed in it."""

    store: ClusterStore
    book: ToolBook
    renamed: list[UUID]


@asynccontextmanager
async def a_node(home: Path, dsn: str) -> AsyncGenerator[Node]:
    store = await ClusterStore.open(home, dsn, KEY)
    store.follow(lambda _: None)
    book = ToolBook(store.memory)
    renamed: list[UUID] = []
    book.on_renamed = lambda server: renamed.append(server.id)
    try:
        yield Node(store, book, renamed)
    finally:
        await store.close()


def desired(owner: Owner, name: str, identity: UUID) -> DesiredServer:
    document = Document(owner, (Definition(name, LocalConfig(command=["run"])),))
    inputs = DesireInputs({(owner, name): identity}, lambda _: None)
    return desire([document], inputs).servers[identity]


def show(node: Node, server: DesiredServer, *tools: str) -> None:
    listed = tuple(ToolDefinition(each, {"name": each}) for each in tools)
    node.book.update(server, Observed(server.id, tools=Tools(listed, "-".join(tools))))


def names(node: Node, server: UUID) -> dict[str, str]:
    return {each.tool.name: each.exposed for each in node.book.routes(server)}


async def agree(*nodes: Node) -> None:
    """Return when each node knows all that any of them wrote, and the corrections that follow."""
    for _ in range(3):
        for node in nodes:
            await node.store.memory.flush()
        for node in nodes:
            for other in nodes:
                await node.store.reached(other.store.written)


async def test_names_that_two_nodes_give_at_once_end_as_one_name_a_tool(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with (
        a_node(tmp_path / "a", cluster_dsn) as a,
        a_node(tmp_path / "b", cluster_dsn) as b,
    ):
        # All of these have the same plain name.
        servers = await a.store.definitions.add_all({each: {} for each in ("x y", "x_y", "x!y")})
        await b.store.reached(a.store.written)

        async def show_all(node: Node, order: list[StoredDefinition]) -> None:
            for each in order:
                show(node, desired(USER, each.name, each.id), *TOOLS)
                await asyncio.sleep(0)

        await asyncio.gather(show_all(a, [*servers]), show_all(b, [*reversed(servers)]))
        await agree(a, b)
        by_server = [names(a, each.id) for each in servers]
        assert by_server == [names(b, each.id) for each in servers]
        exposed = [name for each in by_server for name in each.values()]
        assert len({*exposed}) == len(exposed) == 3 * len(TOOLS)
        assert a.renamed or b.renamed, "one of them gave way"
        assert a.store.memory.exposed_names() == b.store.memory.exposed_names()
        for name in exposed:
            route_a, route_b = a.book.route(name), b.book.route(name)
            assert route_a
            assert route_b
            assert (route_a.server, route_a.tool.name) == (route_b.server, route_b.tool.name)


async def test_a_pinned_tool_gives_way_to_a_shared_one_of_its_name(
    tmp_path: Path, cluster_dsn: str
) -> None:
    project = Owner(Scope.PROJECT, "p")
    async with (
        a_node(tmp_path / "a", cluster_dsn) as a,
        a_node(tmp_path / "b", cluster_dsn) as b,
    ):
        pinned = a.store.memory.identity(project, "files!")
        show(a, desired(project, "files!", pinned), "read", "write")
        assert names(a, pinned)["read"] == "mcp_files_read"
        [shared] = await b.store.definitions.add_all({"files": {}})
        show(b, desired(USER, "files", shared.id), "read")
        await agree(a, b)
        show(a, desired(USER, "files", shared.id), "read")
        assert names(a, shared.id) == names(b, shared.id) == {"read": "mcp_files_read"}
        assert names(a, pinned)["read"] != "mcp_files_read"
        assert names(a, pinned)["write"] == "mcp_files_write"
        assert a.renamed == [pinned]
        assert pinned not in {server for server, _ in b.store.memory.exposed_names()}


async def test_tools_that_no_index_can_hold_are_named_all_the_same(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with a_node(tmp_path / "a", cluster_dsn) as a:
        [made] = await a.store.definitions.add_all({"odd": {}})
        before = a.store.written
        odd = ("n\0", "long" * 2000, "plain")
        show(a, desired(USER, "odd", made.id), *odd)
        await a.store.memory.flush()
        assert {*names(a, made.id)} == {*odd}
        stored = {tool for _, tool in a.store.shared.memory.names()}
        assert stored == {*odd}
        assert a.store.written == before + 1, "the one that fits is claimed"


async def test_what_a_node_lists_under_an_older_fence_is_not_kept(
    tmp_path: Path, cluster_dsn: str
) -> None:
    async with (
        a_node(tmp_path / "a", cluster_dsn) as a,
        a_node(tmp_path / "b", cluster_dsn) as b,
    ):
        [made] = await a.store.definitions.add_all({"one": {}})
        await a.store.shared.engine.execute(
            "INSERT INTO placements (server, node, fence) VALUES (?::uuid, 'b', 5)", (str(made.id),)
        )
        await b.store.reached(a.store.written)
        a.store.shared.memory.fence = lambda _: 4
        b.store.shared.memory.fence = lambda _: 5
        b.store.memory.keep_tools(made.id, [{"name": "new"}])
        await b.store.memory.flush()
        a.store.memory.keep_tools(made.id, [{"name": "old"}])
        await a.store.memory.flush()
        store = await ClusterStore.open(tmp_path / "c", cluster_dsn, KEY)
        try:
            assert store.memory.tools(made.id) == [{"name": "new"}]
        finally:
            await store.close()
