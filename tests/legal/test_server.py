"""The tools and resources, asked in process over the sample corpus."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent, TextResourceContents

from mcpyard.legal.answers import ATTRIBUTION, ATTRIBUTIONS, SUGGESTIONS
from mcpyard.legal.collection import Collection, corpus_file
from mcpyard.legal.corpus import Corpus
from mcpyard.legal.model import SAMPLE_SOURCE
from mcpyard.legal.reading.loading import find, load
from mcpyard.legal.server import make_server


@pytest.fixture
def collection(tmp_path: Path) -> Generator[Collection]:
    made = Collection(tmp_path / "legal")
    yield made
    made.close()


async def ask(collection: Collection, tool: str, **arguments: object) -> CallToolResult:
    async with Client(make_server(collection)) as client:
        return await client.call_tool(tool, arguments)


async def answer_of(collection: Collection, tool: str, **arguments: object) -> dict[str, Any]:
    result = await ask(collection, tool, **arguments)
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


def text_of(result: CallToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, TextContent)
    return part.text


async def test_every_tool_reads_only_and_says_what_it_answers(collection: Collection) -> None:
    async with Client(make_server(collection)) as client:
        tools = {each.name: each for each in (await client.list_tools()).tools}
    assert [*tools] == [
        "search_statutes",
        "get_article",
        "search_cases",
        "list_templates",
        "fill_template",
    ]
    for each in tools.values():
        assert each.output_schema
        assert each.description
        assert each.annotations
        assert each.annotations.read_only_hint


async def test_the_sample_is_marked_as_no_law_wherever_it_appears(collection: Collection) -> None:
    result = await ask(collection, "search_statutes", query="合同")
    assert text_of(result).startswith('{"notice":"SAMPLE: this text is invented and is not law.')
    structure = dict(result.structured_content or {})
    assert "not law" in structure["notice"]
    assert all(each["sample"] for each in structure["results"])
    assert {each["source"] for each in structure["results"]} == {SAMPLE_SOURCE}


async def test_every_result_says_where_it_comes_from(collection: Collection) -> None:
    result = await ask(collection, "search_statutes", query="万分之二", limit=1)
    first = dict(result.structured_content or {})["results"][0]
    assert (first["law"], first["article"]) == ("示例合同规则", "第四条")
    assert first["version_date"] == "2026-11-01"
    assert result.meta
    assert result.meta[ATTRIBUTION] == {
        "source": SAMPLE_SOURCE,
        "updated_at": "2026-11-01",
        "retrieved_at": dict(result.structured_content or {})["imported_at"],
        "law": "示例合同规则",
        "article": "第四条",
    }


async def test_an_answer_is_as_old_as_its_oldest_part_and_lists_them_all(tmp_path: Path) -> None:
    for name, date in (("甲法", "2024-01-02"), ("乙法", "2019-03-04")):
        (tmp_path / f"{name}({date}).md").write_text(f"# {name}\n\n第一条 相同的内容。")
    corpus = Corpus(corpus_file(tmp_path / "legal"))
    load(find(tmp_path), corpus, lambda _done, _of: None)
    corpus.close()
    collection = Collection(tmp_path / "legal")
    result = await ask(collection, "search_statutes", query="相同的内容")
    collection.close()
    assert result.meta
    parts, whole = result.meta[ATTRIBUTIONS], result.meta[ATTRIBUTION]
    assert {each["law"]: each["updated_at"] for each in parts} == {
        "甲法": "2024-01-02",
        "乙法": "2019-03-04",
    }
    assert whole["updated_at"] == "2019-03-04"
    assert whole["law"] == "; ".join(each["law"] for each in parts)
    assert whole["source"] == "; ".join(each["source"] for each in parts)


async def test_a_case_is_attributed_by_its_name(collection: Collection) -> None:
    result = await ask(collection, "search_cases", query="Reed")
    assert result.meta
    assert result.meta[ATTRIBUTION]["case"] == "Reed v Harbour Lettings (sample)"


@pytest.mark.parametrize(
    ("query", "article"),
    [
        ("示例合同规则 第四条之一", "第四条之一"),
        ("示例合同规则 第4条之1", "第四条之一"),
        ("Sample Tenancy Rules Article 3", "Article 3"),
        ("deposits", "Article 3"),
        ("不可抗力", "第五条"),
    ],
)
async def test_a_query_leads_to_its_article(
    collection: Collection, query: str, article: str
) -> None:
    results = (await answer_of(collection, "search_statutes", query=query))["results"]
    assert results[0]["article"] == article


@pytest.mark.parametrize(
    ("question", "article"),
    [
        ("迟延付款多少日可以解除合同", "第四条之一"),
        ("when is the deposit returned after the keys", "Article 7"),
    ],
)
async def test_a_whole_question_finds_what_has_most_of_its_words(
    collection: Collection, question: str, article: str
) -> None:
    results = (await answer_of(collection, "search_statutes", query=question))["results"]
    assert results[0]["article"] == article


async def test_what_has_all_of_the_words_comes_before_what_has_a_part_of_them(
    collection: Collection,
) -> None:
    results = (await answer_of(collection, "search_statutes", query="违约金 万分之二"))["results"]
    assert results[0]["article"] == "第四条"


async def test_an_article_of_an_unknown_law_is_not_answered_with_another_laws(
    collection: Collection,
) -> None:
    answer = await answer_of(collection, "search_statutes", query="火星法 第2条")
    assert answer["results"] == []
    assert "火星法 is not in this collection." in answer["notice"]


async def test_an_article_number_alone_is_looked_up_in_every_law(collection: Collection) -> None:
    results = (await answer_of(collection, "search_statutes", query="第2条"))["results"]
    assert {each["law"] for each in results} == {
        "示例合同规则",
        "示例个人信息规则",
        "Sample Tenancy Rules",
    }


async def test_a_search_can_stay_within_one_law(collection: Collection) -> None:
    answer = await answer_of(
        collection, "search_statutes", query="通知", law="示例个人信息规则", limit=50
    )
    assert {each["law"] for each in answer["results"]} == {"示例个人信息规则"}


async def test_an_article_of_another_law_is_not_taken_from_the_one_searched(
    collection: Collection,
) -> None:
    query, law = "Sample Tenancy Rules Article 4", "示例个人信息规则"
    assert (await answer_of(collection, "search_statutes", query=query, law=law))["results"] == []
    named = (await answer_of(collection, "search_statutes", query="第4条", law=law))["results"]
    assert [(each["law"], each["article"]) for each in named] == [(law, "第四条")]


async def test_an_article_is_read_with_the_ones_before_and_after(collection: Collection) -> None:
    answer = await answer_of(collection, "get_article", law="示例合同规则", article="第四条之一")
    assert answer["previous"]["article"] == "第四条"
    assert answer["next"]["article"] == "第五条"
    assert answer["headings"] == "第二章 履行与违约"
    assert answer["versions"] == ["2026-11-01", "2025-01-01"]


async def test_an_older_version_is_read_when_it_is_asked_for(collection: Collection) -> None:
    old = await answer_of(
        collection, "get_article", law="示例合同规则", article=4, version="2025-01-01"
    )
    assert "万分之一" in old["text"]
    assert (old["current"], old["version_date"]) == (False, "2025-01-01")


@pytest.mark.parametrize(
    ("arguments", "message", "suggestion"),
    [
        ({"law": "示例合同规则", "article": "99"}, "has no 第九十九条", "示例合同规则 第七条"),
        ({"law": "合同规则", "article": "1"}, "No law is called", "示例合同规则"),
        (
            {"law": "示例合同规则", "article": "1", "version": "1999-01-01"},
            "has no version of '1999-01-01'",
            "2026-11-01",
        ),
    ],
)
async def test_what_is_not_there_leads_to_the_nearest(
    collection: Collection, arguments: dict[str, Any], message: str, suggestion: str
) -> None:
    result = await ask(collection, "get_article", **arguments)
    assert result.is_error
    assert message in text_of(result)
    assert suggestion in text_of(result)
    assert result.meta
    assert result.meta[SUGGESTIONS][0] == suggestion


async def test_what_is_no_article_number_is_said(collection: Collection) -> None:
    result = await ask(collection, "get_article", law="示例合同规则", article="the last one")
    assert result.is_error
    assert "'the last one' is no article number" in text_of(result)


@pytest.mark.parametrize("tool", ["search_statutes", "search_cases"])
@pytest.mark.parametrize(
    ("query", "message"), [("", "The query is empty"), ("x" * 102_400, "102,400 characters")]
)
async def test_an_empty_or_endless_query_is_refused(
    collection: Collection, tool: str, query: str, message: str
) -> None:
    result = await ask(collection, tool, query=query)
    assert result.is_error
    assert message in text_of(result)


@pytest.mark.parametrize(
    "query",
    ['"合同', "合同 AND", "合同 OR NOT NEAR(", "合同*", "terms:合同", "合同'; DROP TABLE x"],
)
async def test_operators_and_quotes_in_a_query_are_only_text(
    collection: Collection, query: str
) -> None:
    results = (await answer_of(collection, "search_statutes", query=query))["results"]
    assert any("合同" in each["text"] for each in results)


async def test_nothing_found_is_an_answer_and_no_error(collection: Collection) -> None:
    result = await ask(collection, "search_cases", query="zzz")
    assert not result.is_error
    assert dict(result.structured_content or {}) == {
        "notice": "Nothing was found. 没有找到。",
        "results": [],
    }


async def test_a_case_is_found_once_with_its_best_passage(collection: Collection) -> None:
    results = (await answer_of(collection, "search_cases", query="迟延付款"))["results"]
    assert [each["case"] for each in results].count("甲公司诉乙公司示例货款案") == 1
    assert "迟延付款" in results[0]["text"]


async def test_a_template_is_filled_once_all_its_fields_are_there(collection: Collection) -> None:
    listed = (await answer_of(collection, "list_templates"))["templates"]
    notice = next(each for each in listed if each["template"] == "tenancy-notice-en")
    values = {each["name"]: f"<{each['name']}>" for each in notice["fields"]}
    filled = await answer_of(
        collection, "fill_template", template="tenancy-notice-en", fields=values
    )
    assert "To <landlord>" in filled["text"]
    assert "{{" not in filled["text"]
    assert filled["source"] == SAMPLE_SOURCE


async def test_missing_and_unknown_fields_of_a_template_are_named(collection: Collection) -> None:
    fields = {"tenant": "Li", "colour": "red"}
    result = await ask(collection, "fill_template", template="tenancy-notice-en", fields=fields)
    assert result.is_error
    assert "Missing fields: landlord, address, end_date, deposit, date." in text_of(result)
    assert "Unknown fields: colour." in text_of(result)


async def test_an_unknown_template_is_answered_with_the_known_ones(collection: Collection) -> None:
    result = await ask(collection, "fill_template", template="will", fields={})
    assert result.is_error
    assert "tenancy-notice-en" in text_of(result)


async def text_at(collection: Collection, uri: str) -> str:
    async with Client(make_server(collection)) as client:
        (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def test_whole_texts_are_resources(collection: Collection) -> None:
    (first,) = (await answer_of(collection, "search_statutes", query="违约金", limit=1))["results"]
    law = await text_at(collection, first["uri"])
    assert law.startswith("# 示例合同规则\n")
    assert "- SAMPLE: invented, not law" in law
    assert law.index("第一条") < law.index("## 第二章 履行与违约") < law.index("第七条")
    assert "万分之一" in await text_at(collection, f"{first['uri']}/2025-01-01")
    (case,) = (await answer_of(collection, "search_cases", query="Reed", limit=1))["results"]
    assert "## Holding" in await text_at(collection, case["uri"])
    assert first["uri"] in await text_at(collection, "legal://laws")
    assert case["uri"] in await text_at(collection, "legal://cases")
    assert "{{debtor" in await text_at(collection, "legal://templates/demand-letter-zh")


@pytest.mark.parametrize(
    "uri",
    [
        "legal://laws/x",
        "legal://laws/示例合同规则/1999-01-01",
        "legal://cases/x",
        "legal://templates/x",
    ],
)
async def test_a_text_that_is_not_there_is_said(collection: Collection, uri: str) -> None:
    async with Client(make_server(collection)) as client:
        with pytest.raises(MCPError, match=r"No law is called|There is no|No template is called"):
            await client.read_resource(uri)


async def test_an_import_is_seen_while_the_server_runs(
    collection: Collection, tmp_path: Path
) -> None:
    law = tmp_path / "甲法(2024-01-02).md"
    law.write_text("# 甲法\n\n第一条 真实的内容。")
    corpus = Corpus(corpus_file(tmp_path / "legal"))
    load(find(law), corpus, lambda _done, _of: None)
    corpus.close()
    answer = await answer_of(collection, "get_article", law="甲法", article="1")
    assert (answer["sample"], "notice" in answer) == (False, False)
    assert answer["source"] == f"{tmp_path.name}/甲法(2024-01-02).md"
    listed = (await answer_of(collection, "list_templates"))["templates"]
    assert all(each["sample"] for each in listed)


async def test_a_corpus_that_breaks_while_it_is_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 甲法\n\n第一条 内容。")
    corpus = Corpus(corpus_file(tmp_path))
    load(find(tmp_path), corpus, lambda _done, _of: None)
    with corpus.reading() as connection:
        connection.execute("DROP VIEW cited")
    corpus.close()
    collection = Collection(tmp_path)
    result = await ask(collection, "search_cases", query="内容")
    collection.close()
    assert result.is_error
    assert text_of(result).startswith("The corpus can't be read: no such table")
