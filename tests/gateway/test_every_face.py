"""A call has one result, one error and one line in the journal, whichever face it came through."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mcpyard import Yard
from mcpyard.domain.errors import YardError
from tests.gateway.fallbacks import FOREIGN, main_is_away
from tests.gateway.talking import Message, Talk, answer_in, odd_server, talking

pytestmark = pytest.mark.real

Meta = Mapping[str, object]


class Got(NamedTuple):
    """What a caller got."""

    text: str
    failed: bool


async def handshake(talk: Talk, name: str, arguments: Message, meta: Meta) -> Got:
    session = await talk.meet()
    return _of_rpc(await session.call(name, arguments=arguments, _meta=meta))


async def modern(talk: Talk, name: str, arguments: Message, meta: Meta) -> Got:
    params = {"name": name, "arguments": arguments}
    body, headers = talk.modern("tools/call", params, **meta)
    return _of_rpc(answer_in(await talk.post(body, **headers)))


async def rest(talk: Talk, name: str, arguments: Message, meta: Meta) -> Got:
    body = {"arguments": arguments, "_meta": meta}
    answer = await talk.post(body, f"/api/mcp/tools/{name}/call")
    reply: Message = answer.json()
    if answer.status_code != 200:
        return Got(reply["detail"], failed=True)
    return Got(reply["content"][0]["text"], reply.get("isError", False))


async def library(talk: Talk, name: str, arguments: Message, meta: Meta) -> Got:
    try:
        outcome = await talk.served.yard.call(name, arguments, meta=meta)
    except YardError as error:
        return Got(error.message, failed=True)
    return Got(outcome.text, outcome.is_error)


async def toolbox(talk: Talk, name: str, arguments: Message, _meta: Meta) -> Got:
    outcome = await Yard(talk.served.yard).toolbox().call(name, arguments)
    return Got(outcome.text, outcome.is_error)


FACES: list[Callable[[Talk, str, Message, Meta], Awaitable[Got]]] = [
    handshake,
    modern,
    rest,
    library,
    toolbox,
]


def _of_rpc(answer: Message) -> Got:
    if "error" in answer:
        return Got(answer["error"]["message"], failed=True)
    result = answer["result"]
    return Got(result["content"][0]["text"], result.get("isError", False))


async def journal(talk: Talk, count: int) -> list[tuple[Any, ...]]:
    """The last lines, but for who called, when, how it spaced its JSON, and how long it took."""
    answer = await talk.http.get(f"/api/mcp/calls?limit={count}", headers=talk.heads({}))
    columns = ("server", "tool", "outcome", "bytesOut")
    return [tuple(line[each] for each in columns) for line in answer.json()["calls"]]


@pytest.mark.spec("F1.1", "F1.3")
@pytest.mark.parametrize("meta", FOREIGN)
async def test_a_fallback_answers_every_face_alike(tmp_path: Path, meta: Meta) -> None:
    async with main_is_away(tmp_path, "legacy", home=tmp_path / "home") as talk:
        got = [await face(talk, "mcp_main_nonce", {"text": "x"}, meta) for face in FACES]
        assert got == [Got("x", failed=False)] * len(FACES)
        lines = await journal(talk, len(FACES))
        assert {line[:3] for line in lines} == {("spare", "nonce", "ok")}
        assert len({*lines}) == 1, lines


async def test_a_server_that_dies_in_the_middle_of_a_call_is_told_every_face_alike(
    tmp_path: Path,
) -> None:
    servers = {"main": odd_server(fallback=["spare"]), "spare": odd_server()}
    async with talking(servers, home=tmp_path) as talk:
        yard, got = talk.served.yard, list[Got]()
        for face in FACES:
            got.append(await face(talk, "mcp_main_die", {}, {"x/y": 1}))
            await yard.restart("main", wait=10)
        assert {*got} == {got[0]}, got
        assert got[0].failed
        assert "main" in got[0].text, "the server that had the call"
        assert "spare" not in got[0].text, "it may have had an effect, so nobody else was asked"
        lines = await journal(talk, len(FACES))
        assert len({*lines}) == 1, lines
        assert lines[0][:2] == ("main", "die")
        assert not [line for line in yard.log("spare") if "die" in line.text]


@pytest.mark.parametrize("arguments", [{}, {"text": 1}])
async def test_wrong_arguments_reach_no_server_through_any_face(
    tmp_path: Path, arguments: Message
) -> None:
    async with talking(
        {"main": odd_server(fallback=["spare"]), "spare": odd_server()}, home=tmp_path
    ) as talk:
        got = [await face(talk, "mcp_main_nonce", arguments, {"x/y": 1}) for face in FACES]
        assert {*got} == {got[0]}, got
        assert got[0].failed
        assert "text" in got[0].text
        assert await journal(talk, 1) == []


async def test_a_result_that_is_no_object_is_refused_by_every_face(tmp_path: Path) -> None:
    async with talking({"main": odd_server(), "spare": odd_server()}, home=tmp_path) as talk:
        got = [await face(talk, "mcp_main_list", {}, {"x/y": 1}) for face in FACES]
        assert {*got} == {Got('the server "main": the result is not a JSON object', failed=True)}
        assert len({*(await journal(talk, len(FACES)))}) == 1
