"""Markdown, JSON and addresses of servers, made into what the page shows."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.web.json_tree import MOST, TreeNode, json_tree
from mcpyard.web.markdown import LONGEST, looks_like_markdown, rendered
from mcpyard.web.server_screens.tool_results import part_blocks, resource_blocks, text_block
from mcpyard.web.uri_expansion import expanded, variables_of

TAGS = re.compile(r"<(/?)([a-z0-9]+)([^>]*)>")
INERT = re.compile(r"p|a|em|strong|s|code|pre|[uo]l|li|blockquote|[hb]r|table|thead|tbody|t[rhd]")
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
)


@given(st.text(st.sampled_from("*_`[]()<>!#-|&\"' \nabhttps:/javscriptdlo=:1."), max_size=200))
def test_no_text_gives_an_element_or_an_attribute_that_acts(text: str) -> None:
    for _, tag, attributes in TAGS.findall(str(rendered(text))):
        assert INERT.fullmatch(tag)
        assert not re.search(r"\b(on\w+|style|src|srcset)=", re.sub(r'"[^"]*"', '""', attributes))
        if href := re.search(r'href="([^"]*)"', attributes):
            assert href[1].lower().startswith(("http://", "https://", "mailto:"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
        "<javascript:alert(1)>",
        '[x](https://a.example/"onmouseover="alert(1))',
    ],
)
def test_what_would_run_is_text(text: str) -> None:
    html = str(rendered(text))
    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert '"onmouseover' not in html


def test_an_image_is_a_link_a_heading_a_paragraph_and_a_cell_has_no_style() -> None:
    html = str(rendered("# One\n\n![two](https://a.example/b.png)\n\n|a|\n|-:|\n|b|\n"))
    assert '<p class="md-heading md-h1">One</p>' in html
    assert '<a href="https://a.example/b.png" target="_blank"' in html
    assert "<td>b</td>" in html


@pytest.mark.parametrize("piece", ["[", "*a ", "`" * 3 + "`a", "> ", "- ", "![](", "<a", "|", "\\"])
def test_rendering_the_longest_text_takes_little_time(piece: str) -> None:
    text = piece * (LONGEST // len(piece))
    began = time.process_time()
    rendered(text)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("text", "is_markdown"),
    [
        ("# A title", True),
        ("- one\n- two", True),
        ("see **this**", True),
        ("plain words, 3 * 4 * 5", False),
        ("a_b_c", False),
        ("# " + "a" * LONGEST, False),
    ],
)
def test_markdown_is_told_from_plain_text(text: str, is_markdown: bool) -> None:
    assert looks_like_markdown(text) is is_markdown


def count(node: TreeNode) -> int:
    return 1 + sum(map(count, node.children))


@given(ANY_JSON)
def test_a_tree_has_every_value_of_a_small_one(value: object) -> None:
    node = json_tree(value)
    assert node.left_out == 0
    assert len(node.children) == (len(value) if isinstance(value, list | dict) else 0)


def test_a_tree_is_bounded_in_size_and_depth() -> None:
    wide = json_tree([[*range(1_000)] for _ in range(1_000)])
    assert count(wide) <= MOST + 1_000
    assert wide.left_out > 0
    deep: object = 1
    for _ in range(500):
        deep = [deep]
    assert count(json_tree(deep)) < 100


def test_each_part_becomes_a_block_of_its_kind() -> None:
    parts = [
        {"type": "text", "text": '{"a": 1}'},
        {"type": "text", "text": "{not json"},
        {"type": "text", "text": "# Title"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "image", "mimeType": "image/svg+xml", "data": "AAAA"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAA"},
        {"type": "resource_link", "uri": "https://a.example/", "name": "a"},
        {"type": "resource", "resource": {"uri": "a:b", "mimeType": "image/png", "blob": "AAAA"}},
        "nothing",
    ]
    blocks = part_blocks(parts)
    kinds = ["text", "text", "text", "image", "other", "audio", "link", "resource"]
    assert [each.kind for each in blocks] == kinds
    assert blocks[0].tree
    assert blocks[1].tree is None
    assert blocks[2].html
    assert blocks[6].outside
    assert blocks[7].body
    assert blocks[7].body.kind == "image"


def test_a_resource_is_shown_by_its_type() -> None:
    [plain, markdown, binary] = resource_blocks(
        [
            {"uri": "a:1", "mimeType": "text/plain", "text": "# no title"},
            {"uri": "a:2", "mimeType": "text/markdown", "text": "plain"},
            {"uri": "a:3", "blob": "AAAA"},
        ]
    )
    assert plain.body
    assert plain.body.html is None
    assert markdown.body
    assert markdown.body.html == "<p>plain</p>\n"
    assert binary.body is None
    assert binary.text == " (3 B)"
    assert text_block("x" * 200_000).cut


@pytest.mark.parametrize(
    ("template", "values", "uri"),
    [
        ("a:{x}", {"x": "1 2/3"}, "a:1%202%2F3"),
        ("a:{+x}", {"x": "1/2"}, "a:1/2"),
        ("a:{x,y}", {"x": "1", "y": "2"}, "a:1,2"),
        ("a{/x,y}", {"x": "1", "y": "2"}, "a/1/2"),
        ("a{?x,y}{&z}", {"x": "1", "z": "3"}, "a?x=1&z=3"),
        ("a{#x}", {}, "a"),
        ("a{;x}{.y}", {"x": "1", "y": "2"}, "a;x=1.2"),
        ("a:{x*}{y:3}", {"x": "1", "y": "2"}, "a:12"),
    ],
)
def test_a_template_becomes_an_address(template: str, values: dict[str, str], uri: str) -> None:
    assert expanded(template, values) == uri
    assert {*values} <= {*variables_of(template)}
