"""Running a tool on the page: progress, cancelling, questions, and results of every kind."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.api.daemon import Daemon, one
from tests.web.browsing import Visitor
from tests.web.test_looks import violations

pytestmark = pytest.mark.real

ASKING = Path(__file__).with_name("asking_server.py")


def asking() -> dict[str, object]:
    return {"command": sys.executable, "args": ["-I", "-S", str(ASKING)], "transport": "stdio"}


def open_tool(visitor: Visitor, yard: Daemon, name: str, **options: object) -> Page:
    if not any(each["name"] == "asking" for each in yard.get("/api/mcp/servers?tools=0")):
        yard.register("asking", asking(), start=True, wait=10)
        yard.until("asking", lambda record: record["status"] == "connected")
    page = visitor.visit(yard, f"/servers/{yard.record('asking')['id']}", **options)
    show_tool(page, name)
    return page


def show_tool(page: Page, name: str) -> None:
    page.locator(f'.tool:has(summary code:text-is("{name}")) summary').first.click()
    expect(page.locator("form.try")).to_be_visible()


@pytest.mark.spec("F6.2")
def test_a_call_shows_its_progress_runs_once_and_survives_a_reload(
    visitor: Visitor, yard: Daemon
) -> None:
    page = open_tool(visitor, yard, "wait")
    run = page.get_by_role("button", name="Run")
    run.dblclick()
    expect(page.locator(".run")).to_have_count(1)
    expect(run).to_be_disabled()
    expect(page.locator(".run progress")).to_have_attribute("value", "0.25")
    expect(page.locator(".run-message")).to_have_text("a quarter done")
    expect(page.locator(".run-log")).to_contain_text("it takes long")
    expect(page.locator(".run [data-since]")).to_contain_text("s")
    assert violations(page) == []
    page.reload()
    show_tool(page, "wait")
    expect(page.locator(".run-message")).to_have_text("a quarter done")
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    yard.post(one("asking", "tools", "finish", "call"), {"arguments": {}})
    expect(page.locator(".result .piece.text")).to_contain_text("finished after 1 calls")
    expect(page.get_by_role("button", name="Run")).to_be_enabled()
    expect(page.locator(".sent li")).to_have_count(1)


@pytest.mark.spec("F6.2")
def test_a_call_goes_on_while_the_page_cannot_reach_mcpyard(visitor: Visitor, yard: Daemon) -> None:
    page = open_tool(visitor, yard, "wait")
    page.get_by_role("button", name="Run").click()
    expect(page.locator(".run-message")).to_have_text("a quarter done")
    page.context.set_offline(True)
    page.evaluate("() => window.dispatchEvent(new Event('offline'))")
    yard.post(one("asking", "tools", "finish", "call"), {"arguments": {}})
    page.context.set_offline(False)
    expect(page.locator(".result .piece.text")).to_contain_text("finished after")
    visitor.forgive("ERR_INTERNET_DISCONNECTED", "/ui/", "offline")


@pytest.mark.spec("F6.2")
def test_cancelling_a_call_reaches_the_server(visitor: Visitor, yard: Daemon) -> None:
    page = open_tool(visitor, yard, "wait")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".result .notice")).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Run")).to_be_enabled()
    page.goto(f"{page.url}?show=log")
    expect(page.locator("#lines")).to_contain_text("the call was cancelled")


@pytest.mark.spec("F6.2")
@pytest.mark.parametrize("locale", ["en", "zh-TW"])
def test_a_question_of_a_server_is_a_form_in_the_page(
    visitor: Visitor, yard: Daemon, locale: str
) -> None:
    page = open_tool(visitor, yard, "ask", locale=locale)
    page.locator("[data-run-button]").click()
    question = page.locator(".question")
    expect(question.locator(".about")).to_have_text("Who are you?")
    assert violations(page) == []
    question.locator("[value=accept]").click()
    expect(question.get_by_label("Your name")).to_have_attribute("aria-invalid", "true")
    question.get_by_label("Your name").fill("Ada")
    question.locator("select").first.select_option(label="Large")
    question.locator("[value=accept]").click()
    expect(page.locator(".result .piece.text")).to_contain_text('"accept"')
    expect(page.locator(".result .piece.text")).to_contain_text('"Ada"')
    expect(page.locator(".result .piece.text")).to_contain_text('"l"')
    page.locator("[data-run-button]").click()
    page.locator(".question [value=decline]").click()
    expect(page.locator(".result .piece.text")).to_contain_text('"decline"')


@pytest.mark.spec("F6.2")
def test_an_address_to_open_shows_its_host_and_is_fetched_by_nobody(
    visitor: Visitor, yard: Daemon
) -> None:
    page = open_tool(visitor, yard, "visit")
    page.get_by_role("textbox", name="text").fill(
        "https://user@sign-in.example.invalid:8443/start?x=1"
    )
    page.get_by_role("button", name="Run").click()
    question = page.locator(".question")
    expect(question.locator(".host")).to_have_text("sign-in.example.invalid")
    link = question.get_by_role("link", name="Open sign-in.example.invalid")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    question.get_by_role("button", name="Continue").click()
    expect(page.locator(".result .piece.text")).to_contain_text('"accept"')
    page.get_by_role("textbox", name="text").fill("file:///etc/passwd")
    page.get_by_role("button", name="Run").click()
    expect(question).to_contain_text("not the address of a web page")
    expect(question.get_by_role("link")).to_have_count(0)
    question.get_by_role("button", name="Decline").click()
    expect(page.locator(".result .piece.text")).to_contain_text('"decline"')


@pytest.mark.spec("F6.2")
def test_a_request_for_a_models_answer_is_answered_by_the_person(
    visitor: Visitor, yard: Daemon
) -> None:
    page = open_tool(visitor, yard, "think")
    page.get_by_role("button", name="Run").click()
    question = page.locator(".question")
    expect(question).to_contain_text("What is two and two?")
    assert violations(page) == []
    question.get_by_label("Answer").fill("Four")
    question.get_by_role("button", name="Send").click()
    expect(page.locator(".result .piece.text")).to_contain_text('"Four"')
    page.get_by_role("button", name="Run").click()
    question.get_by_role("button", name="Decline").click()
    expect(page.locator(".result .piece.text")).to_contain_text("declined")


@pytest.mark.spec("F6.2")
def test_results_are_shown_by_their_kind(visitor: Visitor, yard: Daemon) -> None:
    page = open_tool(visitor, yard, "show")
    page.get_by_role("button", name="Run").click()
    markdown = page.locator(".result .markdown").first
    expect(markdown.locator(".md-h1")).to_have_text("Title")
    expect(markdown.locator("strong")).to_have_text("bold")
    expect(markdown.locator("td").last).to_have_text("2")
    expect(markdown.locator("img")).to_have_count(0)
    expect(markdown.get_by_role("link", name="a picture")).to_be_visible()
    expect(markdown.get_by_role("link", name="bad")).to_have_count(0)
    expect(markdown).to_contain_text("<img src=x onerror=alert(1)>")
    tree = page.locator(".result .piece.text .json-tree")
    expect(tree).to_contain_text('"deep"')
    tree.locator("summary").nth(1).click()
    expect(tree.get_by_text('"list"', exact=True)).to_be_hidden()
    expect(page.locator(".piece.audio audio")).to_be_visible()
    data = page.locator(".piece.data")
    expect(data).to_contain_text('"count": 3')
    data.get_by_text("Output schema").click()
    expect(data.locator(".beside .block")).to_be_visible()
    page.locator(".piece.link").get_by_role("button", name="Read").click()
    expect(page.locator(".linked .markdown")).to_contain_text("Notes")
    assert violations(page) == []


def test_a_tool_without_arguments_has_no_empty_box(visitor: Visitor, yard: Daemon) -> None:
    page = open_tool(visitor, yard, "wait")
    expect(page.locator("form.try .form-side")).to_have_text("This tool has no arguments.")
    expect(
        page.locator("form.try textarea:visible, form.try input:visible:not([type=checkbox])")
    ).to_have_count(0)
