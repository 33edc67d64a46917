"""What clients want to hear of servers holds for servers that come, or come back, later."""

import asyncio

import pytest

from mcpyard.app import WiredYard
from mcpyard.domain.observed import Observed
from tests.gateway.talking import events, heads, next_of, odd_server, talking, text_of
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

THING = "odd://thing"


async def test_a_server_that_is_added_later_logs_at_the_level_that_was_set() -> None:
    async with talking({}) as talk:
        met, unasked = await talk.meet(), await talk.meet()
        assert (await met.ask("logging/setLevel", level="debug"))["result"] == {}
        talk.served.yard.code.add("late", odd_server())
        await talk.until("late", "level debug")
        assert await unasked.ask("ping")


async def test_a_server_that_was_removed_and_added_again_knows_what_is_wanted_of_it() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet()
        await met.ask("logging/setLevel", level="info")
        await met.ask("resources/subscribe", uri=THING)
        await talk.until("old", "level info")
        await removed(talk.served.yard, "old")
        talk.served.yard.code.add("old", odd_server())
        await talk.until("old", "level info")
        assert text_of(await talk.call("/mcp/servers/old", "touch")) == f'["{THING}"]'


async def removed(yard: WiredYard, name: str) -> None:
    """Take a server out and wait until nothing is held of it."""
    server = yard.server(name).id
    yard.code.remove(name)
    assert await eventually(lambda: yard.directory.observed(server) == Observed(server), 10)


async def test_a_stream_tells_of_a_resource_whose_server_is_added_later() -> None:
    async with talking({}) as talk:
        params = {"notifications": {"resourceSubscriptions": [THING]}}
        body, headers = talk.modern("subscriptions/listen", params)
        listen = talk.http.stream("POST", "/mcp", json=body, headers=heads(headers))
        async with listen as response:
            stream = events(response)
            await next_of(stream, "notifications/subscriptions/acknowledged")
            talk.served.yard.code.add("late", odd_server())
            await talk.served.yard.settled("late")
            async with asyncio.timeout(10):
                while text_of(await talk.call("/mcp/servers/late", "touch")) == "[]":
                    pass
            await talk.call("/mcp/servers/late", "touch")
            update = await next_of(stream, "notifications/resources/updated")
            assert update["params"]["uri"] == THING
