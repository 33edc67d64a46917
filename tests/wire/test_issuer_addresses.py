"""Which addresses requests to an authorization server go to."""

import asyncio
import ssl

import httpx2
import pytest

from mcpyard.wire.remote.direct_transport import DirectTransport
from mcpyard.wire.remote.issuer_requests import IssuerRefused, ask_issuer

pytestmark = pytest.mark.real


async def test_a_resolver_that_changes_its_answer_leads_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts = list[str]()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        hosts.append(head.partition("Host: ")[2].partition("\r\n")[0])
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    loop = asyncio.get_running_loop()
    resolve, answers = loop.getaddrinfo, iter(["127.0.0.1", "127.0.0.2"])

    async def changing(host: str, port: int | None, *, type: int, flags: int = 0) -> object:  # noqa: A002  as asyncio has it
        address = next(answers) if host == "issuer.test" else host
        return await resolve(address, port, type=type, flags=flags)

    monkeypatch.setattr(loop, "getaddrinfo", changing)
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        transport = DirectTransport(ssl.create_default_context)
        async with httpx2.AsyncClient(transport=transport) as client:
            request = client.build_request("GET", f"http://issuer.test:{port}/a")
            response = await ask_issuer(client, request, httpx2.URL("http://127.0.0.1:1/mcp"))
    assert (response.status_code, hosts) == (204, [f"issuer.test:{port}"])
    assert next(answers) == "127.0.0.2"


@pytest.mark.parametrize(
    "target",
    [
        *("169.254.169.254", "10.0.0.1", "100.64.0.1", "0.1.2.3", "[::1]", "[::]", "[fec0::1]"),
        *("[fd00::1]", "[fe80::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[::10.0.0.1]"),
        *("[::ffff:0:10.0.0.1]", "[2002:a00:1::1]", "[64:ff9b:1::a00:1]"),
    ],
)
async def test_a_public_server_cannot_name_an_address_that_is_not_public(target: str) -> None:
    transport = DirectTransport(ssl.create_default_context)
    async with httpx2.AsyncClient(transport=transport) as client:
        request = client.build_request("GET", f"http://{target}/a")
        with pytest.raises(IssuerRefused, match="is in a private network"):
            await ask_issuer(client, request, httpx2.URL("http://9.9.9.9/mcp"))


@pytest.mark.parametrize("target", ["9.9.9.9", "[2620:fe::9]", "[64:ff9b::9.9.9.9]"])
async def test_a_public_address_is_allowed_however_it_is_written(target: str) -> None:
    async def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(204, request=request)

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer)) as client:
        request = client.build_request("GET", f"http://{target}/a")
        response = await ask_issuer(client, request, httpx2.URL("http://8.8.8.8/mcp"))
    assert response.status_code == 204


async def test_a_host_without_an_address_is_not_looked_up_again() -> None:
    transport = DirectTransport(ssl.create_default_context)
    async with httpx2.AsyncClient(transport=transport) as client:
        request = client.build_request("GET", "http://nowhere.invalid/a")
        with pytest.raises(httpx2.ConnectError, match="DNS lookup failed"):
            await ask_issuer(client, request, httpx2.URL("http://127.0.0.1:1/mcp"))
