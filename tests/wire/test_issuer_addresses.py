"""Which addresses requests to an authorization server go to."""

import asyncio
import ssl

import httpx2
import pytest

from mcpyard.wire.remote.direct_transport import DirectTransport
from mcpyard.wire.remote.issuer_requests import ask_issuer

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


async def test_a_host_without_an_address_is_not_looked_up_again() -> None:
    transport = DirectTransport(ssl.create_default_context)
    async with httpx2.AsyncClient(transport=transport) as client:
        request = client.build_request("GET", "http://nowhere.invalid/a")
        with pytest.raises(httpx2.ConnectError, match="DNS lookup failed"):
            await ask_issuer(client, request, httpx2.URL("http://127.0.0.1:1/mcp"))
