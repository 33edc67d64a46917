"""The host that a question with an address shows is the one that a browser opens."""

import asyncio

import pytest

from mcpyard.web.server_screens.running_calls import PageQuestion
from mcpyard.yard.server_questions import ElicitRequest


def host_of(url: str) -> str:
    loop = asyncio.new_event_loop()
    question = PageQuestion("1", ElicitRequest("s", "Sign in", {}, url), loop.create_future(), 1)
    loop.close()
    return question.host


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://user@sign-in.example:8443/start?x=1", "sign-in.example"),
        ("https://good.example@evil.example/", "evil.example"),
        ("HTTPS://EXAMPLE.com", "example.com"),
        ("http://[::1]:9/", "::1"),
        ("https://b\u00fccher.example/", "xn--bcher-kva.example"),
        ("https://\u0430\u0440\u0440\u04cf\u0435.com/", "xn--80ak6aa92e.com"),
        ("https://STRA\u00dfE.example/", "xn--strae-oqa.example"),
    ],
)
def test_the_host_is_named_as_a_browser_asks_for_it(url: str, host: str) -> None:
    assert host_of(url) == host


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\@good.example/",
        "https:\\\\evil.example/@good.example",
        "https://ev\til.example/",
        " https://evil.example/",
        "https://evil.example/\nx",
        "https:evil.example",
        "https:///evil.example",
        "https://good.example%2e.evil.example/",
        "https://[good.example/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "",
    ],
)
def test_an_address_that_a_browser_may_read_otherwise_has_no_host_to_open(url: str) -> None:
    assert host_of(url) == ""
