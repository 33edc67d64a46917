"""Prompts, resources and log levels of a real server, as REST and the page ask for them."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from mcpyard.app import WiredYard, open_yard
from mcpyard.domain.errors import ArgumentsRefused, Disconnected, ServerUnknown
from mcpyard.yard.content_access import PROMPT, ContentAccess, log_level, set_log_level
from tests.web.test_running_calls import asking

pytestmark = pytest.mark.real

NOTES = "test://notes.md"


@pytest.fixture
async def yard() -> AsyncGenerator[WiredYard]:
    async with open_yard(servers={"asking": asking()}, environment={}) as opened:
        await opened.settled("asking")
        yield opened


class Changes:
    """What a subscription reports."""

    def __init__(self) -> None:
        self.stands = asyncio.Event()
        self.uris: asyncio.Queue[str] = asyncio.Queue()

    def begun(self) -> None:
        self.stands.set()

    def updated(self, uri: str) -> None:
        self.uris.put_nowait(uri)


@pytest.mark.spec("F6.3")
async def test_what_a_server_has_beside_tools_is_listed_and_read(yard: WiredYard) -> None:
    access = ContentAccess(yard, "somebody")
    assert [each.name for each in await access.resources("asking")] == ["notes", "data"]
    assert [each.uri_template for each in await access.templates("asking")] == [
        "test://city/{name}{?year}"
    ]
    greet, plain = await access.prompts("asking")
    assert (greet.arguments[0].name, plain.arguments) == ("city", ())
    (part,) = (await access.read("asking", NOTES)).contents
    assert part["mimeType"] == "text/markdown"
    prompt = await access.prompt("asking", "greet", {"city": "Oslo"})
    assert prompt.description == "A greeting"
    assert prompt.messages[0]["role"] == "user"
    reference = {"type": PROMPT, "name": "greet"}
    values = await access.complete("asking", reference, ("city", "os"), {})
    assert (values.values, values.total, values.has_more) == (["Oslo", "Osaka"], 2, False)
    with pytest.raises(ArgumentsRefused, match="not found"):
        await access.read("asking", "test://nothing")
    with pytest.raises(ArgumentsRefused, match="Unknown prompt"):
        await access.prompt("asking", "nothing", {})
    with pytest.raises(ServerUnknown):
        await access.prompts("nobody")
    await yard.stop("asking", wait=5)
    with pytest.raises(Disconnected):
        await access.prompts("asking")


async def test_changes_of_a_resource_are_reported_until_cancelled(yard: WiredYard) -> None:
    changes = Changes()
    listening = asyncio.create_task(ContentAccess(yard, "me").listen("asking", [NOTES], changes))
    async with asyncio.timeout(10):
        await changes.stands.wait()
        await yard.call_tool("asking", "change", {"text": "new"})
        assert await changes.uris.get() == NOTES
    listening.cancel()
    await asyncio.wait({listening})
    await yard.gateway.close()


async def test_the_log_level_is_remembered_and_checked(yard: WiredYard) -> None:
    assert log_level(yard, "asking") is None
    set_log_level(yard, "asking", "error")
    assert log_level(yard, "asking") == "error"
    set_log_level(yard, "asking", None)
    assert log_level(yard, "asking") is None
    with pytest.raises(ArgumentsRefused, match="level"):
        set_log_level(yard, "asking", "loud")


@pytest.mark.spec("F6.3")
async def test_log_messages_stand_beside_standard_error_with_level_and_logger(
    yard: WiredYard,
) -> None:
    await yard.call_tool("asking", "log", {"text": "hello"})
    messages = [(each.level, each.logger, each.text) for each in yard.log("asking") if each.level]
    assert messages == [
        ("debug", "db", '{"said": "debug hello"}'),
        ("error", "db", '{"said": "error hello"}'),
    ]
