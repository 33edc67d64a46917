"""Errors and red cards as a Chinese reader meets them."""

import re
from html import unescape

import pytest
from starlette.requests import Request

from mcpyard.domain.errors import DefinitionError, Disabled, NameTaken, Problem
from mcpyard.web.problems import wrong_fields
from tests.web.test_doors import asked_page

pytestmark = pytest.mark.real

CHINESE = {"Accept-Language": "zh-CN"}
MISSING: dict[str, object] = {"transport": "stdio", "command": "no-such-program"}


def words(html: str) -> str:
    """What a page says, without its markup and without what is marked as English."""
    without = re.sub(r'<(\w+)[^>]* lang="en"[^>]*>.*?</\1>', " ", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]+>", " ", without))


async def test_a_red_card_says_in_chinese_what_is_wrong_and_what_to_do() -> None:
    async with asked_page(bad=MISSING | {"wanted": "running", "colour": "red"}) as asked:
        html = (await asked.client.get("/ui/news?view=servers", headers=CHINESE)).text
        said = words(html)
        assert "找不到命令“no-such-program”" in said
        assert "请检查拼写" in said
        assert "字段 colour 不起作用" in said
        assert "was not found" not in said
        assert "passed over" not in said
        assert 'lang="en">the command &#34;no-such-program&#34; was not found</p>' in html


def test_what_is_wrong_stands_beside_its_field_in_chinese() -> None:
    request = Request({"type": "http", "headers": [(b"accept-language", b"zh-CN")]})
    taken = NameTaken('the name "one" is in use')
    assert wrong_fields(request, taken) == {"name": '名称已被使用 (the name "one" is in use)'}
    wrong = DefinitionError.of(Problem("env.PORT", "expected a string"))
    assert wrong_fields(request, wrong) == {"env": "此项无效\uff1aexpected a string"}
    assert wrong_fields(request, Disabled("off")) == {}


async def test_a_form_that_is_refused_says_so_in_chinese() -> None:
    async with asked_page() as asked:
        form = {"name": "two", "transport": "http", "url": "http://x"}
        answer = await asked.client.post("/ui/servers", data=form, headers=CHINESE)
        assert answer.status_code == 409
        assert "不能从这里修改此定义" in answer.text


async def test_a_trial_that_fails_says_in_chinese_why_and_what_to_do() -> None:
    async with asked_page() as asked:
        answer = await asked.client.post("/ui/servers/test", data=MISSING, headers=CHINESE)
        for said in ("服务无法启动", "找不到命令", "请检查拼写", "no-such-program"):
            assert said in answer.text


async def test_a_notice_has_the_remedy_and_the_english_as_details() -> None:
    async with asked_page() as asked:
        answer = await asked.client.post("/ui/servers/nobody/start", headers=CHINESE)
        assert answer.status_code == 404
        for said in ("没有这个服务", "请在服务列表中查看名称。", "nobody"):
            assert said in answer.text
        missing = await asked.client.get("/servers/nobody", headers=CHINESE)
        assert "没有这个服务" in missing.text


async def test_in_english_an_error_is_told_as_it_came() -> None:
    async with asked_page() as asked:
        answer = await asked.client.post("/ui/servers/nobody/start")
        assert 'there is no server "nobody"' in unescape(answer.text)
        assert 'class="detail"' not in answer.text
