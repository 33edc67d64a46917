"""Errors and red cards as a Chinese reader meets them."""

import re
from html import unescape

import pytest
from starlette.requests import Request

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import (
    DefinitionError,
    Disabled,
    Disconnected,
    NameTaken,
    Problem,
)
from mcpyard.domain.narrowing import list_of
from mcpyard.web.problems import error_data, wrong_fields
from mcpyard.web.templating import preferences_of
from tests.web.test_doors import asked_page

pytestmark = pytest.mark.real

CHINESE = {"Accept-Language": "zh-CN"}
MISSING: dict[str, object] = {"transport": "stdio", "command": "no-such-program"}


def words(html: str) -> str:
    """What a page says, without its markup."""
    return unescape(re.sub(r"<[^>]+>", "", html))


async def test_a_red_card_says_in_chinese_what_is_wrong_and_what_to_do() -> None:
    async with asked_page(bad=MISSING | {"wanted": "running", "colour": "red"}) as api:
        html = (await api.client.get("/ui/news?view=servers", headers=CHINESE)).text
        text = words(html)
        assert "找不到命令“no-such-program”" in text
        assert "请检查拼写" in text
        assert "colour\uff1a未知\uff1b已忽略" in text
        assert "not found" not in text
        assert "ignored" not in text
        assert '“<span translate="no">no-such-program</span>”' in html


def test_what_is_wrong_stands_beside_its_field_in_chinese() -> None:
    request = Request({"type": "http", "headers": [(b"accept-language", b"zh-CN")]})
    taken = NameTaken('the name "one" is in use')
    assert wrong_fields(request, taken) == {"name": "名称“one”已被使用"}
    wrong = DefinitionError.of(Problem("env.PORT", "expected a string, found a list"))
    assert wrong_fields(request, wrong) == {"env": "应为字符串\uff0c实际为列表"}
    assert wrong_fields(request, Disabled("off")) == {}


async def test_a_form_that_is_refused_says_so_in_chinese() -> None:
    async with asked_page() as api:
        form = {"name": "two", "transport": "http", "url": "http://x"}
        answer = await api.client.post("/ui/servers", data=form, headers=CHINESE)
        assert answer.status_code == 409
        assert "此 mcpyard 实例没有数据目录" in answer.text


async def test_a_trial_that_fails_says_in_chinese_why_and_what_to_do() -> None:
    async with asked_page() as api:
        answer = await api.client.post("/ui/servers/test", data=MISSING, headers=CHINESE)
        for phrase in ("找不到命令", "请检查拼写", "no-such-program"):
            assert phrase in answer.text


async def test_a_notice_has_the_remedy_as_a_detail() -> None:
    async with asked_page() as api:
        answer = await api.client.post("/ui/servers/nobody/start", headers=CHINESE)
        assert answer.status_code == 404
        for text in ("没有服务“", "请在服务列表中查看名称。", "nobody"):
            assert text in answer.text
        missing = await api.client.get("/servers/nobody", headers=CHINESE)
        assert "没有服务“" in missing.text


@pytest.mark.parametrize("language", ["en", "zh-CN", "zh-TW"])
def test_a_lost_connection_is_told_once(language: str) -> None:
    request = Request({"type": "http", "headers": [(b"accept-language", language.encode())]})
    message = "the connection was closed by mcpyard"
    cause = Cause(Code.CLOSED, message, "Check the log, then restart it.", ("last words",))
    data = error_data(request, Disconnected(f'the server "one": {message}').because(cause))
    lines = [str(data["error"]), *map(str, list_of(data["details"]))]
    why = preferences_of(request).words.say(message)
    assert sum(why in each for each in lines) == 1
    assert len({*lines}) == len(lines) > 1
    assert "last words" in lines
    other = error_data(request, Disconnected('the server "one" is lost').because(cause))
    assert why in list_of(other["details"])


async def test_in_english_an_error_is_told_as_it_came() -> None:
    async with asked_page() as api:
        answer = await api.client.post("/ui/servers/nobody/start")
        assert 'there is no server "nobody"' in unescape(answer.text)
        assert 'class="detail"' not in answer.text
