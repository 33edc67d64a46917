"""GET /api/mcp/servers with 1,000 servers: `python -m bench.api [REQUESTS]`.

Against a bare Starlette route that does nothing but serialise the same list with orjson. Both are
asked as ASGI applications in one process, so that no network blurs the difference.
"""

import asyncio
import statistics
import sys
import time
from collections.abc import Callable

import orjson
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message

from bench.measuring import Figures
from mcpyard.api.app import build
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.runtime.clock import SystemClock
from mcpyard.store.volatile import VolatileCallTokens, VolatileSessions
from mcpyard.testing import FakeServers, FakeSource, VolatileMemory, VolatilePolicies
from mcpyard.yard.yard import Ports, YardCore

COUNT = 1_000
TOOLS = 10
PATH = "/api/mcp/servers"
TOKEN = "t" * 43


def make_servers() -> tuple[FakeServers, FakeSource]:
    servers = FakeServers()
    definitions: list[Definition] = []
    for number in range(COUNT):
        name = f"server {number:04}"
        servers.tools[name] = [
            {"name": f"tool_{each}", "description": "Does something useful with a file."}
            for each in range(TOOLS)
        ]
        config = LocalConfig(
            command=["npx", "-y", f"server-{number}", "/data"],
            environment={"API_KEY": "0123456789abcdef", "LEVEL": "${LEVEL:-1}"},
        )
        definitions.append(Definition(name, config))
    return servers, FakeSource(Document(Owner(Scope.PROJECT, "p"), tuple(definitions)))


def bare(content: object) -> ASGIApp:
    async def everything(_request: Request) -> Response:
        return Response(orjson.dumps(content), media_type="application/json")

    return Starlette(routes=[Route(PATH, everything)])


async def ask(app: ASGIApp, tag: str = "") -> tuple[int, int]:
    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {TOKEN}".encode())]
    if tag:
        headers.append((b"if-none-match", tag.encode()))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": PATH,
        "raw_path": PATH.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 1),
    }
    counts = [0, 0]

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        counts[0] = message.get("status", counts[0])
        counts[1] += len(message.get("body", b""))

    await app(scope, receive, send)
    return counts[0], counts[1]


async def median_ms(
    app: ASGIApp, requests: int, before: Callable[[], None] = lambda: None, tag: str = ""
) -> float:
    await ask(app, tag)
    times: list[float] = []
    for _ in range(requests):
        before()
        began = time.perf_counter()
        await ask(app, tag)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


async def measure(requests: int) -> None:
    figures = Figures()
    servers, source = make_servers()
    clock, closing = SystemClock(), asyncio.Event()
    yard = YardCore(Ports([source], VolatileMemory(), VolatilePolicies(), servers, clock, {}.get))
    await yard.begin()
    keys = Keys(AdminKey(TOKEN), VolatileCallTokens(), VolatileSessions(), clock)
    app, yardstick = build(yard, keys=keys, hosts=[], closing=closing), bare(yard.servers())
    status, size = await ask(app)
    assert (status, size) == await ask(yardstick)
    some = yard.server("server 0500")

    def one_is_lost() -> None:
        servers.lose(some.id, Cause(Code.EXITED, "gone"))

    def all_is_read_again() -> None:
        source.say(replace(source.document()))

    figures.show(f"{COUNT} servers with {TOOLS} tools each", f"{size:,} bytes")
    base = await median_ms(yardstick, requests)
    figures.show("bare Starlette and orjson", f"{base:.3g} ms")
    figures.show("making every record anew", f"{_timed(yard.servers):.3g} ms")
    for name, before in (
        ("the list, nothing changed", lambda: None),
        ("the list, one server changed", one_is_lost),
    ):
        took = await median_ms(app, requests, before)
        figures.at_most(f"{name}: {took:.3g} ms, against the bare one", took / base, 3, "x")
    took = await median_ms(app, requests // 10, all_is_read_again)
    figures.show("the list, all documents read again (with the reading)", f"{took:.3g} ms")
    tag = f'"{yard.instance}-{yard.version}t"'
    figures.show(
        "the list that the caller has", f"{await median_ms(app, requests, tag=tag):.3g} ms"
    )
    await yard.close()
    figures.leave()


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
