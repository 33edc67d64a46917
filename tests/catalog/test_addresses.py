"""How addresses are written with the name of their server."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.catalog.resource_uris import (
    carries_owner,
    owner_form,
    split_owner,
    ui_addresses,
    with_meta_changed,
)

SCHEMES = st.sampled_from(["ui://", "skill://", "file://", "mem:", "UI:"])


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("ui://app/main.html", "ui://maps/app/main.html"),
        ("file:///tmp/x", "file://maps//tmp/x"),
        ("mem:x", "mem:maps/x"),
        ("ui://{+path}", "ui://maps/{+path}"),
        ("ui:{+rest}", "ui:maps/{+rest}"),
        ("{+path}", None),
        ("", None),
    ],
)
def test_the_owner_form_has_the_server_as_its_first_segment(
    address: str, expected: str | None
) -> None:
    assert owner_form(address, "maps") == expected


@given(SCHEMES, st.text(), st.text(min_size=1).filter(lambda name: name.isprintable()))
def test_an_owner_form_leads_back_to_server_and_address(
    scheme: str, rest: str, server: str
) -> None:
    form = owner_form(scheme + rest, server)
    assert form
    assert split_owner(form) == (server, scheme + rest)


@pytest.mark.parametrize("address", ["", "plain", "ui://", "ui://alone", "file:///tmp/x"])
def test_what_is_no_owner_form_is_not_taken_apart(address: str) -> None:
    assert split_owner(address) is None


@pytest.mark.parametrize(
    ("address", "expected"),
    [("ui://a", True), ("SKILL://a", True), ("ui:a", True), ("gui://a", False), ("ui", False)],
)
def test_two_schemes_always_carry_their_owner(address: str, expected: bool) -> None:
    assert carries_owner(address) is expected


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"ui": {"resourceUri": "ui://a"}}, ["ui://a"]),
        ({"ui/resourceUri": "ui://b"}, ["ui://b"]),
        ({"ui": {"resourceUri": "ui://a"}, "ui/resourceUri": "ui://b"}, ["ui://a", "ui://b"]),
        ({"ui": "ui://a"}, []),
        ({"ui": {"resourceUri": 1}, "ui/resourceUri": ""}, []),
        ("ui://a", []),
    ],
)
def test_a_tool_names_its_user_interface_in_two_spellings(
    meta: object, expected: list[str]
) -> None:
    assert [*ui_addresses({"_meta": meta})] == expected


def test_a_tool_without_meta_names_no_user_interface() -> None:
    assert [*ui_addresses({"name": "t"})] == []


def test_addresses_in_meta_are_written_anew_and_nothing_else() -> None:
    tool = {
        "name": "ui://name",
        "_meta": {
            "ui": {"resourceUri": "file:///page", "visibility": ["model", 3]},
            "openai/outputTemplate": "ui://widget",
            "home": "https://example.com",
            "all": [{"at": "skill://s"}],
        },
    }
    assert with_meta_changed(tool, str.upper) == {
        "name": "ui://name",
        "_meta": {
            "ui": {"resourceUri": "FILE:///PAGE", "visibility": ["model", 3]},
            "openai/outputTemplate": "UI://WIDGET",
            "home": "https://example.com",
            "all": [{"at": "SKILL://S"}],
        },
    }


def test_what_is_nested_absurdly_deep_stays_as_it_came() -> None:
    deep: object = "ui://a"
    for _ in range(9):
        deep = [deep]
    item = {"_meta": {"deep": deep, "dict": {"a": {}}}}
    assert with_meta_changed(item, str.upper) == item
    assert with_meta_changed({"name": "t"}, str.upper) == {"name": "t"}
