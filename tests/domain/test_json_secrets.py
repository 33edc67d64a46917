"""What is recorded of arguments and results: without secrets, and cut."""

import gc
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.call_contents import LIMIT, MARGIN, WINDOW
from mcpyard.domain.definition.json_secrets import redact_json, redact_text

KNOWN = 's3cret\n"wert" aus ü'


def redacted(value: object, *secrets: str) -> Any:  # noqa: ANN401  any JSON
    raw = json.dumps(value).encode()
    text, cut, masked = redact_json(raw, len(raw), secrets)
    after = json.loads(text)
    assert not cut
    assert masked == (after != value)
    return after


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "correct horse battery"}, {"password": "***"}),
        ({"token": 12345678, "n": 12345678}, {"token": "***", "n": 12345678}),
        (
            {"apiKey": "a", "encryptionKey": "b", "publicKey": "c"},
            {"apiKey": "***", "encryptionKey": "***", "publicKey": "c"},
        ),
        ({"tokens": ["a b", 7], "max_tokens": 3}, {"tokens": ["***", 7], "max_tokens": 3}),
        (
            {"auth": {"user": "u", "deep": [1, "x", None]}},
            {"auth": {"user": "***", "deep": ["***", "***", None]}},
        ),
        ({"secret": True, "pass": "", "pwd": None}, {"secret": True, "pass": "", "pwd": None}),
        ({"password": "${DB_PASSWORD}"}, {"password": "${DB_PASSWORD}"}),
        (["--token", "hunter2", "--out", "x"], ["--token", "***", "--out", "x"]),
        (["-H", "X-Api-Key: abc def"], ["-H", "X-Api-Key: ***"]),
        ([["password", "hunter2"]], [["password", "***"]]),
        ({"text": "Authorization: Bearer abcdef"}, {"text": "Authorization: Bearer ***"}),
        ({"url": "https://me:pw@h/x?token=a"}, {"url": "https://me:***@h/x?token=***"}),
        ({"ghp_a1B2a1B2a1B2a1B2": 1}, {"***": 1}),
        (
            {"requestState": "x", "inputResponses": {"q": {"name": "y"}}},
            {"requestState": "***", "inputResponses": {"q": {"name": "***"}}},
        ),
        (
            [{"name": "X-Api-Key", "value": "a b"}, {"value": "c d", "name": "PASSWORD"}],
            [{"name": "X-Api-Key", "value": "***"}, {"value": "***", "name": "PASSWORD"}],
        ),
        ([{"value": 1, "header": "token"}], [{"value": "***", "header": "token"}]),
        ([{"value": "x", "key": "token"}], [{"value": "***", "key": "***"}]),
        ([{"name": "Accept", "value": "text"}], [{"name": "Accept", "value": "text"}]),
        (
            {"\u5bc6\u7801": "a b", "\u4ee4\u724c": 123456},
            {"\u5bc6\u7801": "***", "\u4ee4\u724c": "***"},
        ),
        (
            {"seedPhrase": "a b c", "PRIVATE KEY": "a b"},
            {"seedPhrase": "***", "PRIVATE KEY": "***"},
        ),
    ],
)
def test_secrets_are_masked_by_name_and_by_look(value: object, masked: object) -> None:
    assert redacted(value) == masked


@pytest.mark.spec("F6.1")
def test_known_secrets_are_masked_wherever_they_stand() -> None:
    value = {"a": KNOWN, KNOWN: [f"x {KNOWN} y"], "n": 123456, "m": 1234567}
    masked = {"a": "***", "***": ["x *** y"], "n": "***", "m": "***7"}
    assert redacted(value, KNOWN, "123456") == masked


def test_json_in_strings_is_masked_as_json_and_lines_of_logs_as_text() -> None:
    inner = json.dumps({"password": "a b c", "list": [{"token": "d e"}]})
    masked = {"password": "***", "list": [{"token": "***"}]}
    (block,) = redacted({"content": [{"type": "text", "text": inner}]})["content"]
    assert json.loads(block["text"]) == masked
    line = "[INFO] password: hunter22, Authorization: Bearer abcdef"
    assert redacted([line]) == ["[INFO] password: ***, Authorization: Bearer ***"]


@pytest.mark.parametrize("levels", [1, 3, 8])
def test_json_in_json_is_followed_and_masked_whole_where_it_is_too_deep(levels: int) -> None:
    value: object = {"password": "abc 123 xyz", "kept": 1}
    for _ in range(levels):
        value = [json.dumps(value)]
    text = json.dumps(redacted(value))
    assert "123" not in text
    assert ("kept" in text) == (levels < 8)


def test_a_text_that_was_cut_shows_no_part_of_a_secret() -> None:
    for before in range(WINDOW - 60, WINDOW, 7):
        raw = json.dumps({"text": "a" * before, "password": "hunter2 " * 9000}).encode()
        text, cut, _ = redact_json(raw[:WINDOW], len(raw), ())
        assert cut
        assert len(text) <= LIMIT
        assert "hunter2" not in text


def test_what_masking_made_short_is_still_cut_before_its_uncertain_end() -> None:
    raw = json.dumps(["ghp_" + "a1B2" * 9] * 2900 + ["x " * LIMIT]).encode()
    text, cut, masked = redact_json(raw, len(raw), ())
    assert (cut, masked) == (True, True)
    assert len(text) < WINDOW - MARGIN
    tiny, cut, _ = redact_json(b'{"password": "' + b"x" * WINDOW, 2 * WINDOW, ())
    assert (tiny, cut) == ("", True)


def test_nested_json_that_was_cut_within_an_escape_is_still_json() -> None:
    inner = json.dumps({"x": "é" * 10, "password": "a b c", "y": "\u00e9" * LIMIT})
    raw = json.dumps([inner]).encode()
    for end in range(WINDOW, WINDOW + 12):
        text, cut, masked = redact_json(raw[end - WINDOW : end], len(raw), ())
        assert cut
        assert "a b c" not in text or not masked
    text, _, _ = redact_json(raw[:WINDOW], len(raw), ())
    assert "a b c" not in text


def test_a_string_that_is_broken_is_read_as_it_stands() -> None:
    raw = rb'["\x password=hunter2'
    assert redact_json(raw, len(raw), ()).text == '["\\\\x password=***"'


def test_nothing_of_a_text_is_left_to_the_garbage_collector() -> None:
    # It runs rarely by design, and texts are long.
    gc.collect()
    gc.disable()
    try:
        redact_json(b'{"a": ["x", 1, "{\\"b\\": 2}"]}', 30, ["secret"])
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_texts_are_masked_and_cut() -> None:
    assert redact_text(f"no {KNOWN}: token=abc", [KNOWN]) == ("no ***: token=***", False, True)
    text, cut, masked = redact_text("é" * LIMIT, ())
    assert (len(text.encode()), cut, masked) == (LIMIT, True, False)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_whatever_holds_no_secret_stays_json_with_the_same_shape(value: object) -> None:
    raw = json.dumps(value).encode()
    text, _, masked = redact_json(raw, len(raw), ())
    after = json.loads(text)
    assert type(after) is type(value) or masked
    assert masked or after == value


@given(st.binary(max_size=300))
def test_bytes_that_are_no_json_do_no_harm(raw: bytes) -> None:
    text, _, _ = redact_json(raw, len(raw), ("secret",))
    assert "secret" not in text
