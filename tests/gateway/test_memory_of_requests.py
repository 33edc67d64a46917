"""A request that was answered is freed at once: garbage collections are rare by design."""

import gc
import tracemalloc
from collections.abc import Generator
from typing import Any

import pytest

from tests.gateway.raw_caller import calling
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

LONG = 100_000
TIMES = 12


@pytest.fixture
def uncollected() -> Generator[None]:
    """Garbage that holds itself stays."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    yield
    tracemalloc.stop()
    gc.enable()


async def forgotten(before: int) -> bool:
    """Whether less is held than two of the bodies that were sent."""
    return await eventually(lambda: tracemalloc.get_traced_memory()[0] - before < 2 * LONG, 5)


def tool(name: str, **arguments: object) -> dict[str, Any]:
    return {"name": name, "arguments": {"text": "x" * LONG, **arguments}}


PATHS: dict[str, tuple[str, dict[str, Any], dict[str, str], int, bytes]] = {
    "a short answer": ("tools/call", tool("cancelled"), {}, 200, b'"result"'),
    "a long answer": ("tools/call", tool("nonce"), {}, 200, b"xxx"),
    "a streamed answer": (
        "tools/call",
        {**tool("steps"), "_meta": {"progressToken": 1}},
        {},
        200,
        b"data: ",
    ),
    "a notification": ("notifications/x", {"text": "x" * LONG}, {}, 202, b""),
    "an unknown tool": ("tools/call", tool("none"), {}, 200, b"Unknown tool"),
    "invalid arguments": ("tools/call", tool("nonce", text=[1] * LONG), {}, 200, b'"isError":true'),
    "an error of the server": (
        "resources/read",
        {"uri": "odd://thing", "text": "x" * LONG},
        {},
        200,
        b"not known",
    ),
    "an invalid result": ("tools/call", tool("list"), {}, 200, b'"error"'),
    "an unknown session": ("tools/call", tool("nonce"), {"Mcp-Session-Id": "x"}, 404, b"Session"),
    "a refused type": ("tools/call", tool("nonce"), {"Accept": "text/html"}, 406, b'"error"'),
    "a stranger": ("tools/call", tool("nonce"), {"Authorization": "Bearer x"}, 401, b"token"),
}


@pytest.mark.usefixtures("uncollected")
async def test_no_request_is_held_after_its_answer() -> None:
    async with calling() as caller:
        for path, (method, params, headers, status, part) in PATHS.items():
            async with caller.connected() as connected:
                request = caller.request(method, params, **headers)
                await connected.ask(request)
                before = tracemalloc.get_traced_memory()[0]
                for _ in range(TIMES):
                    answered, body = await connected.ask(request)
                    assert (answered, part in body) == (status, True), path
                    del body
                assert await forgotten(before), path


@pytest.mark.usefixtures("uncollected")
async def test_no_request_is_held_after_its_client_hung_up_or_its_connection_closed() -> None:
    async with calling() as caller:
        for name in ("hang", "cancelled"):
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(TIMES):
                async with caller.connected() as connected:
                    request = caller.request("tools/call", tool(name))
                    if name == "hang":
                        connected.writer.write(request)
                        await connected.writer.drain()
                    else:
                        assert (await connected.ask(request))[0] == 200
                    del request
            assert await forgotten(before), name
