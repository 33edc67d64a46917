"""Calls of the page that are followed by requests that wait."""

import asyncio
import re

import pytest

from mcpyard.web.server_screens.run_pages import MOST_FOLLOWED
from mcpyard.web.server_screens.running_calls import PageCall
from tests.api.asgi import YardApi
from tests.api.daemon import one
from tests.web.test_doors import asked_page
from tests.web.test_running_calls import asking

pytestmark = pytest.mark.real

NAMES = ("a", "b", "c")
FOLLOWED = re.compile(r'hx-get="(/ui/runs/[^"]+)"')


@pytest.mark.spec("F6.2")
async def test_calls_that_run_leave_connections_to_a_browser() -> None:
    async with asked_page(**{name: asking() for name in NAMES}) as api:
        runs = [await waiting_call(api, name) for name in NAMES]
        requests = [asyncio.create_task(api.client.get(each)) for each in runs]
        done, waiting = await asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED)
        assert [each.result().status_code for each in done] == [204]
        assert len(waiting) == MOST_FOLLOWED
        for name in NAMES:
            await api.client.post(one(name, "tools", "finish", "call"), json={"arguments": {}})
        for each in waiting:
            assert "finished after" in (await each).text
        assert "finished after" in (await api.client.get(runs[-1])).text


async def test_a_log_message_that_cannot_be_read_is_shown_as_it_came() -> None:
    async with asked_page(a=asking()) as api:
        await waiting_call(api, "a")
        call = PageCall(api.yard.route("a", "log"), "{}", "me")
        for number in ("1e999", '"' + "\\ud800" + '"'):
            call._notified("notifications/message", b'{"level":"info","data":%b}' % number.encode())
    assert [each.text for each in call.messages] == [
        '{"level":"info","data":1e999}',
        '{"level":"info","data":"\\ud800"}',
    ]


async def waiting_call(api: YardApi, server: str) -> str:
    """Call the tool that waits; the address that tells what is new of the call from then on."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    path = f"/ui/servers/{server}/tools/wait/call"
    answer = await api.client.post(path, content="arguments={}", headers=headers)
    while "it takes long" not in answer.text:
        answer = await api.client.get(followed(answer.text))
    return followed(answer.text)


def followed(text: str) -> str:
    match = FOLLOWED.search(text)
    assert match, text
    return match[1]
