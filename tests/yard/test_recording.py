"""Calls of one yard are recorded, with what happened before they were sent."""

import json
import sys
import weakref
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.app import WiredYard, open_yard
from mcpyard.domain.call_contents import CallTrace, RecordingMode, TracedCall
from mcpyard.domain.errors import CallUnknown
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.yard.calls.call_context import CallContext, CallExtras
from mcpyard.yard.calls.inspection import inspect_call
from mcpyard.yard.calls.recorder import MOST_WAITING, CallRecorder
from mcpyard.yard.calls.recording import NotRecording
from mcpyard.yard.server_questions import ElicitRequest, QuestionAnswerer
from mcpyard.yard.views.calls import CallDetailsView
from tests.cli.commands import echo
from tests.runtime.waiting import eventually

ASKING: dict[str, object] = {
    "command": sys.executable,
    "args": ["-I", "-S", str(Path(__file__).parents[1] / "web" / "asking_server.py")],
    "transport": "stdio",
}
ADDRESS = "http://127.0.0.1:8712"


@asynccontextmanager
async def recording(folder: Path, **servers: dict[str, object]) -> AsyncGenerator[WiredYard]:
    """A yard with a home that records calls."""
    async with open_yard(home=folder / "home", servers=servers) as yard:
        assert yard.calls.recording.reason is NotRecording.LIBRARY
        await yard.calls.recording.set_mode(RecordingMode.ON)
        await yard.ready(20)
        yield yard


async def newest(yard: WiredYard) -> CallDetailsView:
    journal = yard.accounts.journal
    assert journal
    (line,) = await journal.query(CallQuery(limit=1))
    return await inspect_call(yard, line.id, ADDRESS)


@pytest.mark.real
async def test_a_call_that_a_fallback_answered_names_who_was_passed_over(tmp_path: Path) -> None:
    servers = {"first": echo(fallback=["spare"]), "spare": echo()}
    async with recording(tmp_path, **servers) as yard:
        for name in servers:
            await yard.start(name, wait=20)
        await yard.stop("first", wait=20)
        await yard.call("mcp_first_echo", {"text": "y"})
        opened = await newest(yard)
        assert opened.arguments
        assert json.loads(opened.arguments.text) == {"text": "y"}
        assert (opened.server, [each.server for each in opened.passed_over]) == ("spare", ["first"])
        assert opened.passed_over[0].why


@pytest.mark.real
async def test_a_call_that_woke_its_server_says_how_long_that_took(tmp_path: Path) -> None:
    async with recording(tmp_path, one=echo(wanted="on_demand")) as yard:
        await yard.start("one", wait=20)
        await yard.stop("one", wait=20)
        await yard.change("one", {"wanted": "on_demand"})
        await yard.call("mcp_one_echo", {"text": "x"})
        opened = await newest(yard)
        assert opened.queue_ms is not None
        assert opened.server_ms is not None
        assert opened.queue_ms > opened.server_ms
        assert opened.ms == pytest.approx(opened.queue_ms + opened.server_ms, abs=0.01)


@pytest.mark.real
@pytest.mark.spec("F6.1")
async def test_a_secret_of_the_environment_is_not_recorded_however_it_is_written(
    tmp_path: Path,
) -> None:
    value = 'p\u00e4 "s\\s/w+rd'
    forms = {
        "plain": value,
        "json": json.dumps(value, ensure_ascii=False)[1:-1],
        "ascii": json.dumps(value)[1:-1],
        "path": "p%C3%A4%20%22s%5Cs/w%2Brd",
        "quoted": "p%C3%A4%20%22s%5Cs%2Fw%2Brd",
        "form": "p%C3%A4+%22s%5Cs%2Fw%2Brd",
        "html": "p\u00e4 &quot;s\\s/w+rd",
        "base64": "cMOkICJzXHMvdytyZA",
    }
    text = "; ".join(f"{name} {form}" for name, form in forms.items())
    masked = "; ".join(f"{name} ***" for name in forms)
    async with recording(tmp_path, one=echo(env={"API_TOKEN": value})) as yard:
        await yard.start("one", wait=20)
        await yard.call("mcp_one_echo", {"text": text})
        opened = await newest(yard)
        assert opened.arguments
        assert opened.result
        assert json.loads(opened.arguments.text) == {"text": masked}
        assert json.loads(opened.result.text)["content"][0]["text"] == masked


@pytest.mark.real
@pytest.mark.spec("F6.1")
async def test_an_answer_that_a_server_repeats_is_not_recorded(tmp_path: Path) -> None:
    def reply(request: ElicitRequest) -> dict[str, object]:
        assert request.message == "Who are you?"
        return {"name": "Ada Lovelace", "born": 18151210, "sure": True}

    async with recording(tmp_path, one=ASKING) as yard:
        await yard.start("one", wait=20)
        requests = yard.gateway.of("me", QuestionAnswerer(reply, None))
        outcome = await requests.call_with(yard.route("one", "ask"), {}, CallContext("me"))
        assert "Ada Lovelace" in outcome.text
        assert "18151210" in outcome.text
        opened = await newest(yard)
        assert opened.result
        assert "Ada" not in opened.result.text
        assert "18151210" not in opened.result.text
        assert "accept" in opened.result.text


@pytest.mark.real
@pytest.mark.spec("F6.1")
async def test_an_answer_that_comes_with_a_call_is_not_recorded(tmp_path: Path) -> None:
    answers = json.dumps({"q": {"action": "accept", "content": {"name": "Ada Lovelace"}}})
    extras = CallExtras(members={"inputResponses": answers.encode()})
    async with recording(tmp_path, one=echo()) as yard:
        await yard.start("one", wait=20)
        arguments = {"text": "I accept that Ada Lovelace is here"}
        context = CallContext("me", extras=extras)
        await yard.calls.call_with(yard.route("one", "echo"), arguments, context)
        opened = await newest(yard)
        assert opened.result
        (part,) = json.loads(opened.result.text)["content"]
        assert part["text"] == "I accept that *** is here"


@pytest.mark.real
async def test_without_a_home_nothing_is_recorded() -> None:
    async with open_yard(servers={"one": echo()}) as yard:
        state = await yard.calls.recording.state()
        assert (state.reason, state.usage.calls, state.dropped) == (NotRecording.NO_HOME, 0, 0)
        assert await yard.calls.recording.clear() == 0
        with pytest.raises(CallUnknown):
            await yard.calls.recording.get(1)


class Refusing:
    """Contents that cannot be stored."""

    def put(self, _calls: object) -> None:
        raise OSError("no disk")


def traced(size: int = 0, error: str = "") -> TracedCall:
    call = CallRecord(datetime.now(UTC), "cli", UUID(int=1), "s", "t", 1.0, "ok", size)
    return TracedCall(0, call, CallTrace(b"x" * size, error=error))


async def test_calls_that_find_no_room_are_counted_and_failed_ones_find_more() -> None:
    recorder = CallRecorder(Refusing(), dict, dict)  # pyright: ignore[reportArgumentType]
    size = MOST_WAITING // 4
    admitted = [recorder.admit(traced(size).trace) for _ in range(4)]
    assert [each is not None for each in admitted] == [True, True, True, False]
    assert recorder.admit(traced(size, "broken").trace)
    assert recorder.dropped == 1
    recorder.forget([traced(size)] * 3, dropped=True)
    assert recorder.dropped == 4
    assert recorder.admit(traced(size).trace)
    recorder.forget([traced(size)], dropped=False)
    assert recorder.dropped == 4
    await recorder.flush()
    await recorder.close()


class Details:
    """What a server said beside its error."""


async def test_recorded_calls_are_not_held_until_the_next_call() -> None:
    recorder, details = CallRecorder(Refusing(), dict, dict), Details()  # pyright: ignore[reportArgumentType]
    _, call, trace = traced()
    held_by_us = weakref.ref(details)
    recorder.take(0, [TracedCall(0, call, trace._replace(details=details))])
    del details
    assert await eventually(lambda: held_by_us() is None)
    await recorder.close()


@pytest.mark.real
async def test_what_cannot_be_stored_is_counted_and_the_next_call_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with recording(tmp_path, one=echo()) as yard:
        await yard.start("one", wait=20)
        journal = yard.accounts.journal
        assert journal
        with monkeypatch.context() as patch:
            patch.setattr(journal.contents, "put", Refusing().put)
            await yard.call("mcp_one_echo", {"text": "x"})
            assert (await yard.calls.recording.state()).dropped == 1
        assert "calls cannot be recorded" in caplog.text
        await yard.call("mcp_one_echo", {"text": "x"})
        assert (await newest(yard)).recorded
