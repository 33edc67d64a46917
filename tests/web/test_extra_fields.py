"""What the form has no field of its own for: pasted, shown, changed, and not lost."""

import json

import pytest
from playwright.sync_api import expect

from mcpyard.domain.errors import DefinitionError
from mcpyard.web.server_screens.definitions import Fields, definition_of, redacted_definition
from mcpyard.web.server_screens.extra_fields import (
    extra_of_definition,
    extra_patch,
    read_extra,
)
from mcpyard.yard.views.servers import HealthView, RevealedView
from tests.api.daemon import Daemon
from tests.web.browsing import Visitor, card
from tests.yard.sample_views import sample_server

USUAL = sample_server()
MASKED = {"masked": True, "hint": ""}


def test_what_is_usual_is_not_said() -> None:
    assert extra_patch("", USUAL) == {}
    assert extra_patch("", sample_server(title="Old")) == {"title": None}
    assert extra_patch(None, sample_server(title="Old")) == {}, "it was not asked for"
    assert extra_of_definition({"command": "x", "args": [], "timeout": 5}) == ""


def test_only_what_differs_is_in_the_patch() -> None:
    record = sample_server(
        title="Old",
        isolation="shared",
        wanted_concurrency=1,
        tool_policies={"a": {"enabled": False}, "b": {"timeout": 5}},
        oauth={"clientId": "me", "clientSecret": MASKED},
    )
    text = json.dumps(
        {
            "concurrency": 1,
            "startTimeout": 9,
            "tools": {"a": {"enabled": False}, "b": {"timeout": 6}},
            "oauth": {"clientId": "you", "clientSecret": MASKED},
        }
    )
    assert extra_patch(text, record) == {
        "title": None,
        "startTimeout": 9,
        "tools": {"b": {"timeout": 6}},
        "oauth": {"clientId": "you"},
    }


def test_one_member_of_a_group_is_changed_alone() -> None:
    record = sample_server(health=HealthView(interval=30_000, timeout=5000, failures=5))
    text = json.dumps({"health": {"failures": 6}, "restart": {"attempts": 1}})
    assert extra_patch(text, record) == {
        "health": {"interval": None, "timeout": None, "failures": 6},
        "restart": {"attempts": 1},
    }
    assert extra_patch("", record) == {"health": None}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "further: is not JSON: "),
        ("[" * 100_000, "further: is not JSON: "),
        ("[1]", "further: must be a JSON object"),
        ('{"command": "x"}', "command: has its own field in the form"),
    ],
)
def test_what_is_no_further_setting_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        read_extra(text)


def test_a_trial_has_the_literal_secret_and_the_eye_has_not() -> None:
    masked = {"oauth": {"clientId": "me", "clientSecret": MASKED}}
    fields = Fields(transport="http", url="http://far", extra=json.dumps(masked))
    literal = {"clientId": "me", "clientSecret": "hush"}
    assert definition_of(fields, RevealedView(oauth=literal))["oauth"] == literal
    assert redacted_definition(fields)["oauth"] == {"clientId": "me", "clientSecret": "••••••"}
    typed = Fields(transport="http", url="http://far", extra=json.dumps({"oauth": literal}))
    assert redacted_definition(typed)["oauth"] == {"clientId": "me", "clientSecret": "•••••• (4)"}
    assert redacted_definition(Fields(extra="{"))["further"] == "{"


@pytest.mark.real
def test_a_pasted_server_keeps_what_the_form_does_not_ask_for(
    visitor: Visitor, yard: Daemon
) -> None:
    pasted = {
        "url": "http://127.0.0.1:9/mcp",
        "title": "Far away",
        "startTimeout": 4321,
        "oauth": {"clientId": "mine", "clientSecret": "hush-hush"},
    }
    page = visitor.visit(yard)
    page.click("#first-paste")
    page.get_by_label("Snippet").fill(json.dumps({"mcpServers": {"far": pasted}}))
    page.get_by_role("button", name="Parse").click()
    expect(page.get_by_label("Other settings")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    expect(card(page, "far")).to_contain_text("Far away")
    record = yard.record("far")
    assert (record["startTimeout"], record["oauth"]["clientId"]) == (4321, "mine")

    card(page, "far").get_by_role("button", name="Edit").click()
    extra = page.get_by_label("Other settings")
    settings = json.loads(extra.input_value())
    assert settings["oauth"] == {"clientId": "mine", "clientSecret": MASKED}
    extra.fill(json.dumps(settings | {"startTimeout": -1}))
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#f-further-problem")).to_contain_text("startTimeout: must be")
    visitor.expect("422")
    del settings["title"]
    extra.fill(json.dumps(settings | {"startTimeout": 5000}))
    expect(page.locator("#diff .add")).to_contain_text("5000")
    assert "hush" not in page.content()
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#dialog")).to_be_hidden()
    record = yard.record("far")
    assert (record["title"], record["startTimeout"]) == (None, 5000)
    revealed = yard.post("/api/mcp/servers/far/reveal")
    assert revealed["oauth"] == {"clientId": "mine", "clientSecret": "hush-hush"}


def test_a_number_is_shown_as_a_number_and_whatever_else_was_typed_as_it_is() -> None:
    assert redacted_definition(Fields(timeout="30000"))["timeout"] == 30000
    assert redacted_definition(Fields(timeout="soon"))["timeout"] == "soon"
