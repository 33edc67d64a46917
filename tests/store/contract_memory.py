from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope, Transport
from mcpyard.domain.observed import CacheHint, Capabilities, Era, Items
from mcpyard.domain.ports import KnownConnection
from tests.store.contract import Opener, opened

PROJECT = Owner(Scope.PROJECT, "a/.mcp.json")
USER = Owner(Scope.USER)
OFFER = Capabilities(
    Items(({"uri": "a://深", "name": "a"},), CacheHint(5, public=True)),
    prompts=Items(({"name": "p"}, {"name": "q"})),
)


class MemoryContract:
    async def test_an_identity_is_made_once_and_belongs_to_owner_and_name(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            one = store.memory.identity(PROJECT, "fs")
            others = {store.memory.identity(USER, "fs"), store.memory.identity(PROJECT, "x")}
            assert store.memory.identity(PROJECT, "fs") == one
            assert len({one} | others) == 3
        async with opened(opener) as store:
            assert store.memory.identity(PROJECT, "fs") == one

    async def test_what_was_flushed_is_there_before_the_store_is_closed(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            one = store.memory.identity(PROJECT, "fs")
            await store.memory.flush()
            async with opened(opener) as other:
                assert other.memory.identity(PROJECT, "fs") == one

    async def test_names_tools_and_ways_survive(self, opener: Opener) -> None:
        tools = [{"name": "t", "vendor": {"深": [1]}}]
        async with opened(opener) as store:
            server = store.memory.identity(PROJECT, "文件")
            assert (store.memory.tools(server), store.memory.reached("d")) == ((), None)
            store.memory.keep_names({(server, "t"): "mcp_x_t"})
            store.memory.keep_tools(server, tools)
            store.memory.keep_offer(server, OFFER)
            store.memory.keep_reached("d", KnownConnection(Era.MODERN, Transport.SSE))
            store.memory.keep_reached("e", KnownConnection(Era.HANDSHAKE))
        async with opened(opener) as store:
            assert store.memory.identity(PROJECT, "文件") == server
            assert store.memory.exposed_names() == {(server, "t"): "mcp_x_t"}
            assert store.memory.tools(server) == tools
            assert store.memory.tools(server) == tools
            assert store.memory.offer(server) == OFFER.remembered()
            assert store.memory.offer(server) == OFFER.remembered()
            assert store.memory.reached("d") == KnownConnection(Era.MODERN, Transport.SSE)
            assert store.memory.reached("e") == KnownConnection(Era.HANDSHAKE)

    async def test_what_is_kept_anew_replaces_what_was_kept(self, opener: Opener) -> None:
        async with opened(opener) as store:
            server = store.memory.identity(USER, "fs")
            store.memory.keep_names({(server, "t"): "a", (server, "u"): "b"})
            store.memory.keep_tools(server, [{"name": "t"}])
            store.memory.keep_reached("d", KnownConnection(Era.MODERN))
        async with opened(opener) as store:
            store.memory.keep_names({(server, "v"): "c"})
            store.memory.keep_tools(server, [{"name": "u"}])
            store.memory.keep_reached("d", None)
            store.memory.keep_reached("never", None)
            assert store.memory.reached("d") is None
        async with opened(opener) as store:
            names = {(server, "t"): "a", (server, "u"): "b", (server, "v"): "c"}
            assert store.memory.exposed_names() == names
            assert store.memory.tools(server) == [{"name": "u"}]
            assert store.memory.reached("d") is None

    async def test_a_renamed_definition_keeps_its_id_and_the_old_name_gets_another(
        self, opener: Opener
    ) -> None:
        async with opened(opener) as store:
            identity = store.memory.identity(PROJECT, "old")
            assert await store.memory.rename(PROJECT, "old", "new") == identity
            fresh = store.memory.identity(PROJECT, "old")
            assert fresh != identity
        async with opened(opener) as store:
            assert store.memory.identity(PROJECT, "new") == identity
            assert store.memory.identity(PROJECT, "old") == fresh

    async def test_a_rename_wins_over_an_id_that_the_new_name_had(self, opener: Opener) -> None:
        async with opened(opener) as store:
            store.memory.identity(PROJECT, "new")
            identity = store.memory.identity(PROJECT, "old")
            await store.memory.rename(PROJECT, "old", "new")
            assert store.memory.identity(PROJECT, "new") == identity
        async with opened(opener) as store:
            assert store.memory.identity(PROJECT, "new") == identity
