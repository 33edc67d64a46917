"""POSTs that leave httpx2 out, and those that do not."""

import gzip
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest

from mcpyard.wire.remote import remote_errors
from mcpyard.wire.remote.http_client import direct_transport
from mcpyard.wire.remote.post_sender import ReadyAuth
from mcpyard.wire.remote.streamable_http import HttpLink
from tests.wire.http_scripts import answer, handshake, linked, served, with_session
from tests.wire.servers import (
    RawServer,
    Recorder,
    Request,
    Script,
    Talk,
    call,
    raw_server,
    rpc_answer,
)

pytestmark = pytest.mark.real


def through_httpx2(_url: httpx2.URL) -> None:
    """No transport of our own."""


async def heard_by_server() -> list[Request]:
    headers = {"X-Key": "1", "Authorization": "Bearer secret"}
    async with served(with_session(answer), headers) as (link, recorder, server):
        await handshake(link, recorder)
        for number in (1, 2):
            link.send(call(number, **{"Mcp-Name": "a"}))
            await recorder.answer(number)
        return server.heard


async def test_a_server_hears_the_same_with_httpx2_and_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    direct = await heard_by_server()
    monkeypatch.setattr(remote_errors, "direct_transport", through_httpx2)
    library = await heard_by_server()
    assert len(direct) == len(library) == 5
    for ours, theirs in zip(direct, library, strict=True):
        different = {"host": ""}
        assert dict(ours.headers) | different == dict(theirs.headers) | different
        assert (ours.method, ours.path, ours.body) == (theirs.method, theirs.path, theirs.body)


async def test_requests_of_many_kinds_each_have_their_own_headers() -> None:
    async with served(answer) as (link, recorder, server):
        for number in range(300):
            link.send(call(number, **{"Mcp-Name": f"name {number}"}))
            await recorder.answer(number)
        names = [request.headers["mcp-name"] for request in server.heard]
        assert names == [f"name {number}" for number in range(300)]


async def test_a_compressed_answer_is_unfolded() -> None:
    async def script(talk: Talk) -> None:
        body = gzip.compress(rpc_answer(talk.heard.id, {"text": "x" * 100}))
        await talk.body(200, body, headers={"Content-Encoding": "gzip"})

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.answer(1))["result"] == {"text": "x" * 100}


async def test_a_user_and_password_in_the_address_are_sent() -> None:
    async with raw_server(answer) as server:
        url = server.url.replace("http://", "http://me:secret@")
        async with linked(url) as (link, recorder):
            link.send(call(1))
            await recorder.answer(1)
        assert server.heard[0].headers["authorization"].startswith("Basic ")


class Tokens(ReadyAuth):
    """Has one token after the other."""

    def __init__(self, *, ready: bool = True) -> None:
        self.number = 1
        self.ready = ready
        self.flows = 0

    def ready_token(self) -> str | None:
        return f"token {self.number}" if self.ready else None

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        self.flows += 1
        request.headers["Authorization"] = f"Bearer token {self.number}"
        response = yield request
        if response.status_code == 401:
            self.number += 1
            request.headers["Authorization"] = f"Bearer token {self.number}"
            yield request


@asynccontextmanager
async def signed_in(
    script: Script, tokens: Tokens
) -> AsyncGenerator[tuple[HttpLink, Recorder, RawServer]]:
    async with raw_server(script) as server:
        link, recorder = HttpLink(server.url, auth=tokens), Recorder()
        await link.open(recorder)
        try:
            yield link, recorder, server
        finally:
            await link.close()


def sent_tokens(server: RawServer) -> list[str]:
    return [each.headers["authorization"].removeprefix("Bearer token ") for each in server.heard]


@pytest.mark.parametrize("ready", [True, False])
async def test_a_token_goes_with_every_post_and_is_replaced_at_once(ready: bool) -> None:
    tokens = Tokens(ready=ready)
    async with signed_in(answer, tokens) as (link, recorder, server):
        for number in (1, 2, 3):
            tokens.number = number
            link.send(call(number))
            await recorder.answer(number)
        assert sent_tokens(server) == ["1", "2", "3"]
        assert tokens.flows == (0 if ready else 3)


async def test_a_token_that_is_rejected_is_renewed_without_asking_twice_with_it() -> None:
    async def script(talk: Talk) -> None:
        rejected = talk.heard.headers["authorization"].endswith("1")
        await (talk.body(401) if rejected else talk.answer())

    tokens = Tokens()
    async with signed_in(script, tokens) as (link, recorder, server):
        link.send(call(1))
        await recorder.answer(1)
        assert (sent_tokens(server), tokens.flows) == (["1", "2"], 1)


async def test_a_rejection_of_an_old_token_says_nothing_of_the_new_one() -> None:
    async def script(talk: Talk) -> None:
        if talk.heard.headers["authorization"].endswith("1"):
            tokens.number = 2
            await talk.body(401)
        else:
            await talk.answer()

    tokens = Tokens()
    async with signed_in(script, tokens) as (link, recorder, server):
        link.send(call(1))
        await recorder.answer(1)
        assert (sent_tokens(server), tokens.number) == (["1", "2"], 2)


@pytest.mark.parametrize("variable", ["http_proxy", "all_proxy"])
async def test_a_server_behind_a_proxy_is_reached_through_it(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    async with raw_server(answer) as proxy:
        monkeypatch.setenv(variable, proxy.url.removesuffix("/mcp"))
        async with linked("http://mcp.invalid/mcp") as (link, recorder):
            link.send(call(1))
            await recorder.answer(1)
        assert proxy.heard[0].path == "http://mcp.invalid/mcp"
        assert proxy.heard[0].headers["host"] == "mcp.invalid"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_a_server_on_this_machine_is_never_behind_a_proxy(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert direct_transport(httpx2.URL(f"http://{host}/mcp")) is not None
    assert direct_transport(httpx2.URL("http://mcp.invalid/mcp")) is None
