"""The real server as a process, over each transport, asked by the SDK's client and by a yard."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client

from mcpyard import Yard
from mcpyard.legal.model import SAMPLE_SOURCE
from tests.legal.running import COMMAND, listening

pytestmark = pytest.mark.real

ARTICLE = {"law": "示例合同规则", "article": "第四条"}
LETTER = {
    "landlord": "A",
    "tenant": "B",
    "address": "C",
    "end_date": "D",
    "deposit": "E",
    "date": "F",
}
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("search_statutes", {"query": "示例合同规则 第4条"}, "万分之二"),
    ("get_article", ARTICLE, "万分之二"),
    ("search_cases", {"query": "迟延付款"}, "甲公司诉乙公司示例货款案"),
    ("list_templates", {}, "demand-letter-zh"),
    ("fill_template", {"template": "tenancy-notice-en", "fields": LETTER}, "I, B, end"),
]


async def check_answers(client: Client) -> None:
    async with client:
        result = await client.call_tool("get_article", ARTICLE)
        resources = await client.list_resource_templates()
    assert dict(result.structured_content or {})["article"] == "第四条"
    assert len(resources.resource_templates) == 5


async def test_the_sdks_client_is_answered_over_stdio(tmp_path: Path) -> None:
    program, *arguments = COMMAND
    arguments += ["--home", str(tmp_path)]
    await check_answers(Client(StdioServerParameters(command=program, args=arguments)))


async def test_the_sdks_client_is_answered_over_http(tmp_path: Path) -> None:
    async with listening("http", tmp_path) as url:
        await check_answers(Client(url))


async def test_the_sdks_client_is_answered_over_sse(tmp_path: Path) -> None:
    async with listening("sse", tmp_path) as url:
        await check_answers(Client(sse_client(url), mode="legacy"))


def definition(home: Path) -> dict[str, Any]:
    program, *arguments = COMMAND
    return {"command": program, "args": [*arguments, "--home", str(home)], "wanted": "running"}


@pytest.mark.spec("D4.1")
async def test_statutes_cases_and_templates_answer_through_a_yard(tmp_path: Path) -> None:
    async with Yard.open(servers={"legal": definition(tmp_path)}) as yard:
        record = await yard.settled("legal")
        assert (record.status, record.tool_count) == ("connected", 5)
        for tool, arguments, answer in CALLS:
            outcome = await yard.call(f"mcp_legal_{tool}", arguments)
            assert not outcome.is_error, outcome.text
            assert answer in outcome.text


@pytest.mark.spec("D4.2")
async def test_results_say_their_source_and_when_it_was_last_updated(tmp_path: Path) -> None:
    async with Yard.open(servers={"legal": definition(tmp_path)}) as yard:
        await yard.settled("legal")
        outcomes = [await yard.call(f"mcp_legal_{tool}", arguments) for tool, arguments, _ in CALLS]
    for outcome in outcomes:
        meta: Any = outcome.result["_meta"]
        attribution = meta["mcpyard/attribution"]
        assert (attribution["source"], attribution["updated_at"]) == (SAMPLE_SOURCE, "2026-11-01")
        assert attribution["retrieved_at"].endswith("+00:00")
    structure: Any = outcomes[1].result["structuredContent"]
    attribution = {name: structure[name] for name in ("source", "law", "article", "version_date")}
    assert attribution == {
        "source": SAMPLE_SOURCE,
        "law": "示例合同规则",
        "article": "第四条",
        "version_date": "2026-11-01",
    }
    assert structure["imported_at"].endswith("+00:00")


async def test_the_environment_alone_configures_it_over_stdio(tmp_path: Path) -> None:
    variables = {
        "LEGAL_MCP_SERVER_URL": f"'{sys.executable}' -m mcpyard.legal --home '{tmp_path}'",
        "LEGAL_MCP_TRANSPORT": "stdio",
        "LEGAL_MCP_TIMEOUT": "20000",
    }
    async with Yard.open(environment=os.environ | variables) as yard:
        await yard.start("legal", wait=30)
        outcome = await yard.call("mcp_legal_get_article", ARTICLE)
    assert "万分之二" in outcome.text


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_the_environment_alone_configures_it_by_its_address(
    tmp_path: Path, transport: str
) -> None:
    async with listening(transport, tmp_path) as url:
        variables = {"LEGAL_MCP_SERVER_URL": url, "LEGAL_MCP_TRANSPORT": transport}
        async with Yard.open(environment=os.environ | variables) as yard:
            await yard.start("legal", wait=30)
            outcome = await yard.call("mcp_legal_get_article", ARTICLE)
    assert "万分之二" in outcome.text
