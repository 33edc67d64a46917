"""The stream of events: typed, resumable, bounded, ended in time."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import orjson
import pytest

from mcpyard.api import events
from mcpyard.domain.cause import Cause, Code
from mcpyard.yard.events import HISTORY
from tests.api.asgi import slug
from tests.api.daemon import daemon
from tests.api.fake_yard import SERVERS, Faked, faked, served

pytestmark = pytest.mark.real


class Frame(NamedTuple):
    kind: str
    id: str
    data: Any

    @property
    def number(self) -> int:
        return int(self.id.rpartition("-")[2])


@asynccontextmanager
async def reading(
    client: httpx2.AsyncClient, after: str = "", **headers: str
) -> AsyncGenerator[AsyncIterator[Frame]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with client.stream("GET", f"/api/events{after}", headers=named) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield frames(answer.aiter_lines())


async def frames(lines: AsyncIterator[str]) -> AsyncIterator[Frame]:
    members: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            members[name] = value
        elif "event" in members:
            yield Frame(members["event"], members.get("id", ""), orjson.loads(members["data"]))
            members = {}
        else:
            yield Frame("comment", "", None)
            members = {}


async def until(stream: AsyncIterator[Frame], kind: str) -> Frame:
    async for each in stream:
        if each.kind == kind:
            return each
    raise AssertionError(f"the stream ended without {kind}")


async def test_a_new_reader_is_greeted_and_hears_what_happens_then(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it, served(it.app) as client:
        await it.register("before")
        async with reading(client) as stream:
            hello = await anext(stream)
            assert (hello.kind, hello.data) == ("hello", {})
            await it.register("fs", start=True)
            status = await until(stream, "status")
            assert (status.data["name"], status.data["status"]) == ("fs", "connected")
            await client.delete(f"{SERVERS}/fs")
            assert (await until(stream, "removed")).number > hello.number


@pytest.mark.parametrize("way", ["query", "header"])
async def test_a_reader_that_comes_back_misses_nothing(tmp_path: Path, way: str) -> None:
    async with faked(tmp_path / "home") as it, served(it.app) as client:
        async with reading(client) as stream:
            hello = await anext(stream)
        await it.register("one", start=True)
        await it.register("two", start=True)
        after = f"?after={hello.id}" if way == "query" else ""
        headers = {} if way == "query" else {"Last_Event_ID": hello.id}
        async with reading(client, after, **headers) as stream:
            names = [(await until(stream, "status")).data["name"] for _ in range(2)]
            assert names == ["one", "two"]


async def test_a_reader_of_an_earlier_run_looks_at_everything_again(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it, served(it.app) as client:
        await it.register("fs")
        for seen in ("0123456789ab-1", "junk", "", "9" * 30):
            async with reading(client, Last_Event_ID=seen) as stream:
                assert (await anext(stream)).kind == "resync"
        async with reading(client, "?after=99999") as stream:
            assert (await anext(stream)).kind == "resync"
        assert slug(await client.get("/api/events?after=soon")) == (422, "invalid-arguments")


async def test_a_reader_that_was_away_too_long_looks_at_everything_again(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it, served(it.app) as client:
        record = await it.register("fs", start=True)
        server = it.yard.server(record["id"]).id
        async with reading(client) as stream:
            hello = await anext(stream)
        for number in range(HISTORY + 1):
            it.servers.lose(server, Cause(Code.EXITED, f"loss {number}"))
        async with reading(client, f"?after={hello.id}") as stream:
            resync = await anext(stream)
            assert (resync.kind, resync.id) == ("resync", f"{it.yard.instance}-{it.yard.version}")


async def test_a_reader_that_stops_reading_costs_a_bounded_queue_and_is_told(
    tmp_path: Path,
) -> None:
    async with faked(tmp_path / "home") as it, served(it.app) as client:
        record = await it.register("fs", start=True)
        async with reading(client) as stream:
            await anext(stream)
            last = await flood(it, record["id"])
            resync = await until(stream, "resync")
            assert resync.number <= last
            it.servers.lose(it.yard.server("fs").id, Cause(Code.EXITED, "the last word"))
            async for each in stream:
                if each.kind == "status" and each.data["error"]["message"] == "the last word":
                    break


async def flood(it: Faked, ref: str) -> int:
    """More than a socket and a queue can hold together."""
    server = it.yard.server(ref).id
    for number in range(40):
        for _ in range(100):
            it.servers.lose(server, Cause(Code.EXITED, f"{number}" + "x" * 10_000))
        await asyncio.sleep(0)
    return it.yard.version


async def test_calls_are_told_as_counters(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it, served(it.app) as client:
        record = await it.register("fs", start=True)
        async with reading(client) as stream:
            await anext(stream)
            for _ in range(3):
                await client.post(f"{SERVERS}/fs/tools/echo/call", json={})
            event = await until(stream, "calls")
            while event.data["servers"][0]["calls"] < 3:
                event = await until(stream, "calls")
            assert event.data == {"servers": [{"id": record["id"], "calls": 3, "errors": 0}]}
            assert event.id == ""


async def test_silence_is_broken_by_a_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(events, "HEARTBEAT", 0.06)
    async with (
        faked(tmp_path / "home") as it,
        served(it.app) as client,
        reading(client) as stream,
    ):
        assert (await anext(stream)).kind == "hello"
        assert (await anext(stream)).kind == "comment"
        assert (await anext(stream)).kind == "comment"


async def test_streams_end_when_the_yard_closes(tmp_path: Path) -> None:
    async with (
        faked(tmp_path / "home") as it,
        served(it.app) as client,
        reading(client) as stream,
    ):
        await anext(stream)
        it.closing.set()
        assert [each async for each in stream if each.kind != "comment"] == []


async def test_asking_for_the_head_of_a_stream_opens_none(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        head = await it.client.head("/api/events")
        assert (head.status_code, head.content) == (200, b"")


def test_a_yard_that_ends_does_not_wait_for_its_readers(tmp_path: Path) -> None:
    with (
        daemon(tmp_path / "home") as it,
        it.client.stream("GET", "/api/events") as answer,
        it.client.stream("GET", "/api/events") as other,
    ):
        lines = answer.iter_lines()
        assert next(lines).startswith("id: ")
        began = time.monotonic()
        assert it.up.end() == 0
        assert time.monotonic() - began < 3
        assert "event: status" not in [*lines, *other.iter_lines()]
