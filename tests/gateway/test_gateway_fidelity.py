"""What a server says reaches the client as the bytes that came."""

import json

import msgspec
import pytest

from tests.gateway.odd_server import ODD
from tests.gateway.talking import talking

pytestmark = pytest.mark.real


class _Answer(msgspec.Struct):
    result: msgspec.Raw


def result_in(content: bytes) -> bytes:
    return bytes(msgspec.json.decode(content, type=_Answer).result)


async def test_a_result_within_the_handshake_era_is_byte_for_byte_what_the_server_sent() -> None:
    async with talking() as talk:
        met = await talk.meet("/mcp/servers/old")
        params = {"name": "odd", "arguments": {}}
        came = await met.send(id=1, method="tools/call", params=params)
        assert result_in(came.content) == (ODD % "").encode()


async def test_a_result_within_the_modern_era_is_byte_for_byte_what_the_server_sent() -> None:
    async with talking() as talk:
        body, headers = talk.modern("tools/call", {"name": "odd", "arguments": {}})
        came = await talk.post(body, "/mcp/servers/new", **headers)
        assert result_in(came.content) == (ODD % ',"resultType":"complete"').encode()


async def test_across_eras_only_the_members_of_the_era_are_added_or_taken_away() -> None:
    async with talking() as talk:
        body, headers = talk.modern("tools/call", {"name": "odd", "arguments": {}})
        up = await talk.post(body, "/mcp/servers/old", **headers)
        met = await talk.meet("/mcp/servers/new")
        down = await met.send(id=1, method="tools/call", params={"name": "odd", "arguments": {}})
        sent = ODD % ""
        assert result_in(up.content) == b'{"resultType":"complete",' + sent[1:].encode()
        members = msgspec.json.decode(result_in(down.content), type=dict[str, msgspec.Raw])
        expected = msgspec.json.decode(sent.encode(), type=dict[str, msgspec.Raw])
        assert {key: bytes(raw) for key, raw in members.items()} == {
            key: bytes(raw) for key, raw in expected.items()
        }


@pytest.mark.parametrize("server", ["old", "new"])
async def test_a_megabyte_of_text_comes_whole(server: str) -> None:
    async with talking() as talk:
        arguments = {"size": 1_000_000}
        answer = await talk.call(f"/mcp/servers/{server}", "big", arguments=arguments)
        assert answer["result"]["content"][0]["text"] == "x" * 1_000_000


async def test_a_tool_is_listed_with_members_nobody_here_knows() -> None:
    async with talking() as talk:
        listed = await talk.ask_modern("tools/list")
        assert {tool["x-odd"] for tool in listed["result"]["tools"]} == {2**70}
        names = [tool["name"] for tool in listed["result"]["tools"]]
        assert "mcp_old_odd" in names
        assert "mcp_new_odd" in names
        assert (listed["result"]["ttlMs"], listed["result"]["cacheScope"]) == (60000, "private")


async def test_arguments_reach_the_server_as_they_were_sent() -> None:
    async with talking() as talk:
        words = '\U0001f680 ü \\ " \u2028'
        body, headers = talk.modern("tools/call", {"name": "nonce", "arguments": {"text": words}})
        raw = json.dumps(body, ensure_ascii=False).encode()
        came = await talk.post(raw, "/mcp/servers/old", **headers)
        assert came.json()["result"]["content"][0]["text"] == words


@pytest.mark.parametrize("server", ["old", "new"])
async def test_an_error_of_a_server_passes_with_numbers_beyond_64_bits(server: str) -> None:
    async with talking() as talk:
        path = f"/mcp/servers/{server}"
        refused = await talk.ask_modern("resources/read", path, uri="odd://thing")
        assert refused["error"]["data"] == [2**70]
