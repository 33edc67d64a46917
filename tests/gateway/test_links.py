"""Addresses in results: what is written anew, what stays, and what it may cost."""

import json
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.gateway import resource_uris as addresses_module
from mcpyard.gateway.links import with_links_exposed
from mcpyard.gateway.resource_uris import Addresses, ResourceLocation

A, B = uuid4(), uuid4()
ODD = b'"big": 123456789012345678901234567890 ,"exact":0.1000, "\\u00fc" :"\\ud83d\\ude80"'


def addresses(holder: UUID | None = None, *, as_they_are: bool = False) -> Addresses:
    made = Addresses(lambda _: holder, as_they_are=as_they_are)
    made.add_server(A, "a", has_resources=True)
    made.add_server(B, "b", has_resources=True)
    return made


def test_only_the_texts_of_addresses_are_written_anew() -> None:
    raw = b'{%b, "content":[ {"type":"resource_link","uri":"ui://x", %b} , 7 ]}' % (ODD, ODD)
    result = with_links_exposed(raw, addresses(), A)
    assert json.loads(result)["content"][0]["uri"] == "ui://a/x"
    for part in (b"123456789012345678901234567890", b"0.1000", b'"\\ud83d\\ude80"'):
        assert result.count(part) == 2


@pytest.mark.parametrize(
    "raw",
    [
        b'{ "content":[{"type":"text","text":"ui://x"}] }',
        b'{ "content":[{"type":"resource_link","uri":"file:///x"}] }',
        b'{ "content":[{"type":"resource_link","uri":7}] }',
        b'{ "content":"uri", "uri":"ui://x" }',
        b'{ "content":[{"type":7,"uri":"ui://x"}] }',
        b'{ "contents":{"uri":"ui://x"} }',
        b'{ "messages":[{"content":[{"type":"text","uri":"ui://x"}]}] }',
        b'["uri"]',
        b'{"uri"',
        b'{"uri":1,"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_a_result_without_addresses_keeps_its_bytes(raw: bytes) -> None:
    assert with_links_exposed(raw, addresses(), A) is raw


def test_a_view_of_one_server_keeps_every_byte() -> None:
    raw = b'{"contents":[{"uri":"ui://x"}]}'
    assert with_links_exposed(raw, addresses(as_they_are=True), A) is raw


@given(st.binary(max_size=60))
def test_no_result_breaks_it(tail: bytes) -> None:
    raw = b'{"content":[{"type":"resource","resource":{"uri":' + tail
    assert with_links_exposed(raw, addresses(), A) is raw or json.loads(raw)


def test_links_of_one_result_are_compared_with_templates_within_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(addresses_module, "_MOST_COMPARED", 10)
    view = addresses()
    view.take_template(B, "x://{+all}")
    exposed = view.links(A)
    uris = [exposed("x://1") for _ in range(8)]
    assert uris == ["x://a/1"] * 5 + ["x://1"] * 3
    assert exposed("ui://1") == "ui://a/1"


def test_only_so_many_templates_of_a_server_are_compared() -> None:
    view = addresses()
    for number in range(addresses_module.MOST_TEMPLATES + 5):
        assert view.take_template(A, f"x://{number}/{{a}}")
    assert view.find("x://7/1") == ResourceLocation(A, "x://7/1")
    assert view.find(f"x://{addresses_module.MOST_TEMPLATES}/1") is None


def test_an_address_in_the_words_of_another_server_is_not_shown_twice() -> None:
    view = addresses()
    assert view.take(A, "x://y") == "x://y"
    assert view.take(A, "x://b/y") == "x://b/y"
    assert view.take(B, "x://y") is None
    assert view.take(B, "no scheme") == "no scheme"
    assert view.take(A, "no scheme") is None
    assert view.find("x://b/y") == ResourceLocation(A, "x://b/y")


def test_a_server_that_the_view_does_not_show_keeps_its_addresses() -> None:
    assert addresses().exposed(uuid4(), "ui://x") == "ui://x"


def test_an_address_of_a_server_that_is_not_shown_leads_nowhere() -> None:
    elsewhere = uuid4()
    view = addresses(elsewhere)
    view.take_template(A, "x://{+all}")
    assert view.find("x://1") is None


def test_a_long_list_of_links_is_written_anew_whole() -> None:
    blocks = [{"type": "resource_link", "uri": f"ui://{each}"} for each in range(2_000)]
    result = json.loads(
        with_links_exposed(json.dumps({"content": blocks}).encode(), addresses(), A)
    )
    assert [each["uri"] for each in result["content"]] == [
        f"ui://a/{each}" for each in range(2_000)
    ]
