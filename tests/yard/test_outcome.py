"""What is read out of a result: its parts, its errors, and where it comes from."""

import json
from typing import Any

import pytest

from mcpyard import Outcome
from mcpyard.yard.calls.attribution import META_KEY
from mcpyard.yard.calls.outcome import ErrorKind, PassedOver
from mcpyard.yard.calls.parts import (
    Audio,
    Image,
    Part,
    Resource,
    ResourceLink,
    Text,
    Unknown,
    read_parts,
    write_part,
)


def outcome(**result: object) -> Outcome:
    return Outcome(json.dumps(result).encode(), "laws", "search", 1.0)


KNOWN = [
    ({"type": "text", "text": "a"}, Text("a")),
    ({"type": "image", "data": "QQ==", "mimeType": "image/png"}, Image("QQ==", "image/png")),
    ({"type": "audio", "data": "QQ==", "mimeType": "audio/wav"}, Audio("QQ==", "audio/wav")),
    (
        {"type": "resource", "resource": {"uri": "f:a", "mimeType": "text/x", "text": "t"}},
        Resource("f:a", "text/x", text="t"),
    ),
    (
        {"type": "resource", "resource": {"uri": "f:b", "blob": "QQ=="}},
        Resource("f:b", blob="QQ=="),
    ),
    (
        {"type": "resource_link", "uri": "f:c", "name": "c", "description": "d"},
        ResourceLink("f:c", "c", description="d"),
    ),
]

ODD = [
    {"type": "video", "data": "QQ=="},
    {"type": "text"},
    {"type": "image", "data": 3, "mimeType": "image/png"},
    {"type": "audio", "data": "QQ=="},
    {"type": "resource", "resource": "f:a"},
    {"type": "resource", "resource": {"uri": "f:a"}},
    {"type": "resource_link", "name": "c"},
    "words",
    None,
]


@pytest.mark.spec("D3.3")
def test_every_kind_of_part_is_read_as_what_it_is() -> None:
    raw = [each for each, _ in KNOWN]
    result = outcome(content=raw, structuredContent={"n": 1})
    assert result.parts == tuple(part for _, part in KNOWN)
    assert (result.text, result.structured, result.error) == ("a", {"n": 1}, None)


@pytest.mark.parametrize("raw", ODD)
def test_a_part_that_is_not_understood_is_kept_as_it_came(raw: object) -> None:
    assert read_parts([raw]) == (Unknown(raw),)


@pytest.mark.parametrize(("raw", "part"), [*KNOWN, *((each, Unknown(each)) for each in ODD)])
def test_a_part_is_written_as_it_was_read(raw: object, part: Part) -> None:
    assert write_part(part) == raw


@pytest.mark.parametrize(("content", "count"), [(None, 0), ([], 0), ("words", 1)])
def test_content_that_is_no_list_loses_nothing(content: object, count: int) -> None:
    assert len(outcome(content=content).parts) == count


def test_a_tool_that_says_error_is_told_apart_from_a_call_that_failed() -> None:
    refusal = outcome(content=[], isError=True)
    lost = Outcome.failed(ErrorKind.TIMEOUT, "too long", server="laws", tool="search")
    assert (refusal.is_error, refusal.error) == (True, ErrorKind.TOOL)
    assert (lost.is_error, lost.error, lost.text) == (True, ErrorKind.TIMEOUT, "too long")
    assert lost.result["isError"] is True


def test_a_number_that_nobody_can_hold_is_kept_as_text() -> None:
    many = "9" * 400
    raw = f'{{"content": [], "n": {many}, "x": 1e400, "small": 7, "real": 0.5}}'
    result = Outcome(raw.encode(), "s", "t", 1.0)
    assert result.result == {"content": [], "n": many, "x": "1e400", "small": 7, "real": 0.5}
    assert not result.is_error


def test_a_message_with_half_a_character_makes_an_outcome_all_the_same() -> None:
    lost = Outcome.failed(ErrorKind.TOOL, "bad \ud800", server="s", tool="t")
    assert lost.text == "bad ?"


def test_an_outcome_shows_who_was_tried_and_who_answered() -> None:
    passed = (PassedOver("a", "is away"),)
    details = Outcome(b'{"content": []}', "b", "t", 1.0, passed).to_dict()["yard"]
    assert details == {
        "server": "b",
        "tool": "t",
        "ms": 1.0,
        "attribution": {"source": "b", "updatedAt": None, "retrievedAt": None},
        "tried": ["a", "b"],
        "passedOver": [{"server": "a", "why": "is away"}],
    }


def test_a_failed_outcome_shows_its_kind_and_no_server_twice() -> None:
    passed = [PassedOver("a", "is away"), PassedOver("b", "is away, too")]
    lost = Outcome.failed(
        ErrorKind.DISCONNECTED, "nobody", server="a", tool="t", passed_over=passed
    )
    details: Any = lost.to_dict()["yard"]
    assert (details["tried"], details["error"]) == (["a", "b"], "disconnected")


def test_a_server_that_says_nothing_is_named_and_the_date_is_unknown() -> None:
    attribution = outcome(content=[]).attribution
    assert (attribution.source, attribution.updated_at, attribution.retrieved_at) == (
        "laws",
        None,
        None,
    )
    assert str(attribution) == "laws (date unknown)"


def test_what_a_server_says_outright_counts() -> None:
    meta = {
        "source": "民法典",
        "updated_at": "2020-05-28",
        "retrieved_at": "2026-01-02",
        "law": "x",
    }
    attribution = outcome(
        content=[], _meta={META_KEY: meta}, structuredContent={"source": "other"}
    ).attribution
    assert str(attribution) == "民法典 (updated 2020-05-28)"
    assert (attribution.retrieved_at, attribution.details) == ("2026-01-02", {"law": "x"})
    assert attribution.to_dict() == {
        "source": "民法典",
        "updatedAt": "2020-05-28",
        "retrievedAt": "2026-01-02",
        "details": {"law": "x"},
    }


def test_structured_items_are_summed_up_and_the_oldest_date_counts() -> None:
    items = [
        {"source": "a", "law": "L", "article": "1", "version_date": "2021-01-01"},
        {"source": "b", "law": "L", "article": "2", "version_date": "2020-01-01"},
        {"text": "says nothing of itself"},
        3,
    ]
    attribution = outcome(content=[], structuredContent={"items": items, "count": 4}).attribution
    assert (attribution.source, attribution.updated_at) == ("a; b", "2020-01-01")
    assert attribution.details == {
        "law": "L",
        "article": ["1", "2"],
        "version_date": ["2021-01-01", "2020-01-01"],
    }


def test_one_item_and_a_nested_one_tell_of_themselves() -> None:
    assert outcome(structuredContent={"law": "L"}).attribution.source == "L"
    nested = {"article": {"source": "s", "imported_at": "2026-01-01"}}
    assert outcome(structuredContent=nested).attribution.retrieved_at == "2026-01-01"


def test_many_sources_are_cut_short() -> None:
    items = [{"source": f"s{n}"} for n in range(6)]
    assert outcome(structuredContent={"items": items}).attribution.source == (
        "s0; s1; s2; s3; s4; ..."
    )
    few = outcome(structuredContent={"items": items[:5]}).attribution
    assert few.source == "s0; s1; s2; s3; s4"


def test_a_date_in_the_annotations_of_a_part_is_used() -> None:
    parts = [
        {"type": "text", "text": "a", "annotations": {"lastModified": "2025-02-02"}},
        {"type": "text", "text": "b", "annotations": {"lastModified": "2024-02-02"}},
        {"type": "text", "text": "c"},
    ]
    attribution = outcome(content=parts).attribution
    assert str(attribution) == "laws (updated 2024-02-02)"


@pytest.mark.parametrize("value", [None, 3, [], {"source": 3}, {"updated_at": ""}])
def test_odd_attributions_are_as_good_as_none(value: object) -> None:
    assert outcome(_meta={META_KEY: value}, structuredContent=value).attribution.source == "laws"
