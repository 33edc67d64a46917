import pytest

from mcpyard.catalog.ranking import MAX_QUERY, MAX_TERMS, MAX_TEXT, Index, ToolText
from mcpyard.catalog.token_estimate import estimate_tokens

TOOLS = [
    ToolText("mcp_fs_read_file", "Read a file", "Reads the contents of a file."),
    ToolText("mcp_fs_write_file", "", "Writes text to a file, replacing what was there."),
    ToolText("mcp_legal_search", "检索法律", "按关键词检索合同、婚姻等法律条文。"),
    ToolText("mcp_legal_template", "文书模板", "填写起诉状和合同的模板。"),
    ToolText("createIssue", "", "Opens a new ticket in the tracker."),
    ToolText("mcp_odd_none", "", ""),
]

INDEX = Index(TOOLS)


def ranked_names(query: str) -> list[str]:
    return [TOOLS[place].name for place in INDEX.rank(query)]


def test_a_word_in_the_name_counts_more_than_one_in_the_description() -> None:
    tools = [
        ToolText("a", "", "about weather"),
        ToolText("weather", "", ""),
        ToolText("c", "weather", ""),
    ]
    assert Index(tools).rank("weather") == [1, 2, 0]


def test_the_tool_that_knows_more_of_the_query_comes_first() -> None:
    assert ranked_names("read file")[0] == "mcp_fs_read_file"
    assert ranked_names("write a file")[0] == "mcp_fs_write_file"


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("法", "mcp_legal_search"),
        ("合同", "mcp_legal_search"),
        ("模板", "mcp_legal_template"),
        ("填写模板", "mcp_legal_template"),
        ("婚姻法", "mcp_legal_search"),
        ("诉讼", "mcp_legal_template"),
    ],
)
def test_chinese_queries_of_any_length_find_their_tool(query: str, best: str) -> None:
    assert ranked_names(query)[0] == best


def test_a_chinese_word_finds_every_tool_that_has_it() -> None:
    assert set(ranked_names("合同")) == {"mcp_legal_search", "mcp_legal_template"}


def test_words_are_found_by_their_beginning_and_their_inside() -> None:
    assert ranked_names("templ") == ["mcp_legal_template"]
    assert ranked_names("emplat") == ["mcp_legal_template"]
    assert ranked_names("issue") == ["createIssue"]


def test_case_and_width_of_letters_do_not_matter() -> None:
    assert (
        ranked_names("TICKET")
        == ranked_names("\uff54\uff49\uff43\uff4b\uff45\uff54")
        == ["createIssue"]
    )


@pytest.mark.parametrize("query", ["", "  ", "?!_", "zebra", "斑馬"])
def test_a_query_about_nothing_finds_nothing(query: str) -> None:
    assert ranked_names(query) == []


def test_a_very_long_query_is_cut() -> None:
    assert ranked_names("x" * MAX_QUERY + " ticket") == []
    assert ranked_names("ticket " + "x" * 100_000) == ["createIssue"]


def test_of_a_query_and_of_a_text_only_so_much_is_looked_at() -> None:
    many = " ".join(f"w{number}" for number in range(MAX_TERMS))
    assert ranked_names(f"{many} ticket") == []
    long = Index([ToolText("a", "", "x " * MAX_TEXT + "zebra"), ToolText("b", "", "zebra")])
    assert long.rank("zebra") == [1]


def test_tools_that_fit_equally_keep_their_order() -> None:
    assert Index([ToolText("same", "", "")] * 3).rank("same") == [0, 1, 2]


def test_tokens_are_estimated_by_script() -> None:
    assert [estimate_tokens(text) for text in ("", "abc", "abcd", "abcde", "合同", "合同ab")] == [
        0, 1, 1, 2, 2, 3
    ]  # fmt: skip
