import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.definition import checks


@pytest.mark.parametrize("name", ["fs", "文件系统服务", "a b", "é/ü", "🦊", "x" * 255])
def test_any_readable_name_is_taken(name: str) -> None:
    assert checks.name_fault(name) is None


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("", "empty"),
        (" \t", "empty"),
        (" fs", "white space"),
        ("a\nb", "control"),
        ("a\u202eb", "control"),
        ("\ud800", "surrogate"),
        ("x" * 1_000_000, "1000000 characters long; 255 are allowed"),
        ("123e4567-e89b-12d3-a456-426614174000", "looks like an id"),
    ],
)
def test_a_name_that_would_mislead_is_refused(name: str, fault: str) -> None:
    assert fault in (checks.name_fault(name) or "")


@pytest.mark.parametrize("name", ["", "A=B", "A\0", "\udc00"])
def test_a_variable_name_that_no_process_can_have_is_refused(name: str) -> None:
    assert checks.variable_fault(name)


def test_an_ordinary_variable_name_is_taken() -> None:
    assert checks.variable_fault("PATH") is None


@pytest.mark.parametrize(
    ("name", "value"), [("a b", "x"), ("", "x"), ("X", "a\r\nSet-Cookie: b"), ("X", "\0")]
)
def test_a_header_that_would_break_the_request_is_refused(name: str, value: str) -> None:
    assert checks.header_fault(name, value)


def test_an_ordinary_header_is_taken() -> None:
    assert checks.header_fault("Authorization", "Bearer x") is None


@pytest.mark.parametrize("url", ["http://localhost:3001/mcp", "https://[::1]/x?y=1", "HTTP://a"])
def test_web_addresses_are_taken(url: str) -> None:
    assert checks.url_fault(url) is None


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("ftp://x", "http://"),
        ("localhost:80", "http://"),
        ("", "http://"),
        ("http://", "host"),
        ("http://a b", "white space"),
        ("http://a:99999", "not a valid URL"),
        ("http://[::1", "not a valid URL"),
    ],
)
def test_what_is_no_web_address_is_refused(url: str, fault: str) -> None:
    assert fault in (checks.url_fault(url) or "")


@given(st.text())
def test_no_text_breaks_a_check(text: str) -> None:
    for fault in (checks.name_fault, checks.text_fault, checks.variable_fault, checks.url_fault):
        assert fault(text) is None or fault(text)
