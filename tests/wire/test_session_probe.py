"""How a server's era is found out, against scripted servers."""

import asyncio
import gc
import json

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.session import Opening, ServerSession, open_session
from tests.wire.fakes import FakeLink, RpcFailure

FACE = ClientFace("yard", "1.0", {"elicitation": {}})
REQUEST_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/clientInfo": {"name": "yard", "version": "1.0"},
}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "old", "version": "3", "vendor": 1},
    "instructions": "be kind",
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2027-01-01", "2026-07-28"],
    "capabilities": {"tools": {}},
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "9"}},
    "ttlMs": 5000,
    "cacheScope": "public",
}
SOON = Opening(deadline=2, silence=0.02)


async def opened(link: FakeLink, opening: Opening = SOON) -> ServerSession:
    return await open_session(link, FACE, opening)


async def refused(link: FakeLink, opening: Opening = SOON) -> Cause:
    with pytest.raises(LinkFailed) as caught:
        await opened(link, opening)
    assert link.closed == 1
    return caught.value.cause


async def test_a_modern_server_needs_one_question() -> None:
    link = FakeLink()
    link.script = {"server/discover": lambda _: DISCOVERED}
    session = await opened(link)
    assert (session.era, session.protocol_version) == ("modern", "2026-07-28")
    assert session.server_info == {"name": "new", "version": "9"}
    assert session.capabilities == {"tools": {}}
    assert link.methods == ["server/discover"]
    assert link.bodies[0]["params"]["_meta"] == REQUEST_META
    assert dict(link.sent[0].headers) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "server/discover",
    }
    await session.close()


async def test_an_error_to_discover_brings_initialize_at_once() -> None:
    link = FakeLink()
    link.script = {"server/discover": lambda _: RpcFailure(-32601), "initialize": lambda _: HELLO}
    session = await opened(link, Opening(deadline=2, silence=60))
    assert (session.era, session.protocol_version) == ("handshake", "2025-06-18")
    assert (session.instructions, session.server_info["vendor"]) == ("be kind", 1)
    assert link.methods == ["server/discover", "initialize", "notifications/initialized"]
    assert link.bodies[1]["params"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "yard", "version": "1.0"},
    }


async def test_a_server_that_ignores_the_question_is_met_after_the_silence() -> None:
    link = FakeLink()
    link.script = {"initialize": lambda _: HELLO}
    session = await opened(link)
    assert session.era == "handshake"
    assert link.methods == ["server/discover", "initialize", "notifications/initialized"]
    link.answer(1, DISCOVERED)
    assert session.era == "handshake"


async def test_a_slow_modern_server_that_refuses_initialize_is_waited_for() -> None:
    link = FakeLink()
    link.script = {"initialize": lambda _: RpcFailure(-32022, {"supported": ["2026-07-28"]})}
    opening = asyncio.create_task(opened(link))
    await link.until_sent(2)
    asyncio.get_running_loop().call_later(0.03, link.answer, 1, DISCOVERED)
    assert (await opening).era == "modern"
    assert link.methods == ["server/discover", "initialize"]


async def test_a_refusal_that_comes_with_the_initialize_result_is_no_error() -> None:
    errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    # Which of two answers is looked at first is not settled, so it is tried often.
    for _ in range(20):
        link = FakeLink()
        opening = asyncio.create_task(opened(link))
        await link.until_sent(2)
        link.answer(1, DISCOVERED)
        link.refuse(2, -32022)
        assert (await opening).era == "modern"
        del link, opening
    gc.collect()
    assert errors == []


@pytest.mark.parametrize("answer", [{"supportedVersions": ["2025-11-25"]}, {}, [], None])
async def test_a_discovery_without_a_modern_version_is_no_modern_server(answer: object) -> None:
    link = FakeLink()
    link.script = {
        "server/discover": lambda _: "text" if answer is None else answer,
        "initialize": lambda _: HELLO,
    }
    assert (await opened(link)).era == "handshake"


async def test_a_remembered_handshake_asks_nothing_else_even_of_a_slow_server() -> None:
    link = FakeLink()
    opening = asyncio.create_task(opened(link, Opening(2, "handshake", silence=0)))
    await link.until_sent(1)
    asyncio.get_running_loop().call_later(0.03, link.answer, 1, HELLO)
    assert (await opening).era == "handshake"
    assert link.methods == ["initialize", "notifications/initialized"]


async def test_a_wrongly_remembered_handshake_is_found_out() -> None:
    link = FakeLink()
    link.script = {
        "initialize": lambda _: RpcFailure(-32022),
        "server/discover": lambda _: DISCOVERED,
    }
    assert (await opened(link, Opening(2, "handshake"))).era == "modern"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_each_version_of_the_handshake_era_is_spoken(version: str) -> None:
    link = FakeLink()
    link.script = {"initialize": lambda _: {**HELLO, "protocolVersion": version}}
    session = await opened(link, Opening(2, "handshake"))
    assert session.protocol_version == version


@pytest.mark.parametrize("version", ["2099-01-01", "2026-07-28", None, 5])
async def test_an_unknown_version_is_fatal(version: object) -> None:
    link = FakeLink()
    link.script = {"initialize": lambda _: {**HELLO, "protocolVersion": version}}
    cause = await refused(link)
    assert cause.code is Code.UNSUPPORTED_VERSION
    assert cause.fatal


async def test_a_server_of_the_future_only_is_told_as_such() -> None:
    link = FakeLink()
    link.script = {
        "server/discover": lambda _: RpcFailure(-32022, {"supported": ["2031-01-01"]}),
        "initialize": lambda _: RpcFailure(-32601),
    }
    cause = await refused(link)
    assert cause.code is Code.UNSUPPORTED_VERSION
    assert "2031-01-01" in cause.hint


async def test_a_server_that_refuses_both_gives_its_own_words() -> None:
    link = FakeLink()
    link.script = {
        "server/discover": lambda _: RpcFailure(-32601),
        "initialize": lambda _: RpcFailure(-32000),
    }
    cause = await refused(link)
    assert cause.code is Code.REFUSED_HANDSHAKE
    assert "initialize" in cause.message
    assert "-32000" in cause.message


async def test_a_silent_server_runs_into_the_deadline() -> None:
    cause = await refused(FakeLink(), Opening(deadline=0.05, silence=0.01))
    assert cause.code is Code.START_TIMEOUT


async def test_a_server_that_breaks_its_answers_over_lines_is_told_from_a_silent_one() -> None:
    link = FakeLink()

    def broken_over_lines(_params: object) -> None:
        for line in json.dumps({"jsonrpc": "2.0", "result": HELLO, "id": 1}, indent=2).split("\n"):
            link.say(line.encode())

    link.script = {"server/discover": broken_over_lines}
    cause = await refused(link, Opening(deadline=0.05, silence=0.01))
    assert cause.code is Code.GARBAGE
    assert "messages of one line each" in cause.message


async def test_a_child_that_dies_of_the_question_gives_its_cause() -> None:
    link = FakeLink()
    opening = asyncio.create_task(refused(link))
    await link.until_sent(1)
    died = Cause(Code.EXITED, "exited with status 1", stderr=("Traceback",))
    link.receiver.lost(died)
    assert await opening is died


async def test_a_link_that_does_not_open_gives_its_cause() -> None:
    cause = Cause(Code.UNREACHABLE, "refused")
    assert await refused(FakeLink(fails=cause)) is cause


async def test_an_http_error_to_discover_counts_as_an_answer() -> None:
    link = FakeLink()
    link.script = {
        "server/discover": lambda _: Cause(Code.HTTP_ERROR, "400"),
        "initialize": lambda _: HELLO,
    }
    assert (await opened(link, Opening(2, silence=60))).era == "handshake"


async def test_a_wanted_sign_in_is_not_tried_in_the_other_era() -> None:
    link = FakeLink()
    link.script = {"server/discover": lambda _: Cause(Code.NEEDS_AUTH, "401")}
    assert (await refused(link)).code is Code.NEEDS_AUTH
    assert link.methods == ["server/discover"]


async def test_a_link_that_minds_the_era_is_told_before_anything_else_is_sent() -> None:
    class HttpLike(FakeLink):
        def __init__(self) -> None:
            super().__init__()
            self.modern = True
            self.protocol_version: str | None = None
            self.streams: list[str] = []

        def open_get_stream(self) -> None:
            self.streams.append(self.methods[-1])

    link = HttpLike()
    link.script = {"initialize": lambda _: HELLO}
    await opened(link, Opening(2, "handshake"))
    assert (link.modern, link.protocol_version) == (False, "2025-06-18")
    assert link.streams == ["notifications/initialized"]


async def test_ping_is_what_the_era_has_for_it_and_any_answer_does() -> None:
    link = FakeLink()
    link.script = {"initialize": lambda _: HELLO, "ping": lambda _: RpcFailure(-32601)}
    await (await opened(link, Opening(2, "handshake"))).ping(1)
    assert link.methods[-1] == "ping"
    link = FakeLink()
    link.script = {"server/discover": lambda _: DISCOVERED}
    await (await opened(link)).ping(1)
    assert link.methods == ["server/discover", "server/discover"]


async def test_terms_of_a_request_have_no_say_in_the_handshake_era() -> None:
    link = FakeLink()
    link.script = {"initialize": lambda _: HELLO, "tools/list": lambda _: {"tools": []}}
    session = await opened(link, Opening(2, "handshake"))
    terms = CallTerms(timeout=1, capabilities=b'{"x":{}}', log_level="debug")
    await session.request("tools/list", None, terms)
    assert link.bodies[-1]["params"] == {}
