"""The event stream parser."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.wire.remote.eventstream import EventParser, OversizeEvent, SseEvent


def parse(text: bytes, *, limit: int = 1024) -> list[SseEvent | OversizeEvent]:
    return EventParser(limit).feed(text)


def parse_in(pieces: list[bytes], *, limit: int = 1024) -> list[SseEvent | OversizeEvent]:
    parser = EventParser(limit)
    return [item for piece in pieces for item in parser.feed(piece)]


def test_data_type_id_and_retry_come_out_of_one_event() -> None:
    events = parse(b'event: update\nid: 7\nretry: 250\ndata: {"a":1}\n\n')
    assert events == [SseEvent(b'{"a":1}', "update", "7", 250)]


def test_an_event_without_a_type_is_a_message() -> None:
    assert parse(b"data: x\n\n") == [SseEvent(b"x", "message")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_is_understood(end: bytes) -> None:
    text = end.join([b"id: 1", b"data: a", b"data: b", b"", b"data: c", b"", b""])
    assert parse(text) == [SseEvent(b"a\nb", id="1"), SseEvent(b"c", id="1")]


def test_a_line_end_cut_in_two_ends_one_line_only() -> None:
    pieces = [b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"]
    assert parse_in(pieces) == [SseEvent(b"a\nb")]


def test_a_carriage_return_alone_dispatches_without_waiting_for_more() -> None:
    assert parse(b"data: a\r\r") == [SseEvent(b"a")]


def test_only_the_first_space_after_the_colon_is_dropped() -> None:
    assert parse(b"data:  x\n\n") == [SseEvent(b" x")]
    assert parse(b"data:x\n\n") == [SseEvent(b"x")]


def test_a_byte_order_mark_at_the_start_is_no_part_of_the_first_field() -> None:
    assert parse_in([b"\xef", b"\xbb\xbfdata: x\n\n"]) == [SseEvent(b"x")]


def test_comments_are_counted_and_give_no_event() -> None:
    parser = EventParser()
    assert parser.feed(b": ping\n\n:\n\n") == []
    assert parser.comments == 2


def test_an_event_without_data_moves_the_last_id_and_is_not_given() -> None:
    parser = EventParser()
    assert parser.feed(b"id: 3\n\n") == []
    assert parser.last_id == "3"


def test_an_event_that_was_cut_does_not_move_the_last_id() -> None:
    parser = EventParser()
    parser.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\n")
    assert parser.last_id == "1"


def test_an_empty_id_takes_the_last_one_back() -> None:
    parser = EventParser()
    assert parser.feed(b"id: 3\n\nid\ndata: x\n\n") == [SseEvent(b"x", id="")]
    assert parser.last_id == ""


def test_a_retry_of_thousands_of_digits_is_ignored_and_the_stream_goes_on() -> None:
    parser = EventParser()
    assert parser.feed(b"retry: " + b"9" * 5000 + b"\ndata: x\n\n") == [SseEvent(b"x")]
    assert parser.retry is None


def test_an_id_with_a_null_byte_and_a_retry_that_is_no_number_are_ignored() -> None:
    parser = EventParser()
    assert parser.feed(b"id: a\0b\nretry: soon\ndata: x\n\n") == [SseEvent(b"x")]
    assert (parser.last_id, parser.retry) == ("", None)


def test_a_restart_forgets_the_half_event_and_keeps_where_to_resume() -> None:
    parser = EventParser()
    parser.feed(b"id: 1\nretry: 5\ndata: a\n\ndata: half")
    parser.restart()
    assert parser.feed(b"data: b\n\n") == [SseEvent(b"b", id="1")]
    assert parser.retry == 5


def test_an_event_over_the_limit_is_skipped_and_the_next_one_arrives() -> None:
    big = b'data: {"id":9,' + b"x" * 2000 + b',"end":1}\n\n'
    over, event = parse_in([big[:700], big[700:], b"data: next\n\n"], limit=1000)
    assert isinstance(over, OversizeEvent)
    assert over.size == len(big) - 2
    assert over.head.startswith(b'data: {"id":9,')
    assert over.tail.endswith(b',"end":1}')
    assert event == SseEvent(b"next")


def test_many_short_data_lines_together_are_over_the_limit_too() -> None:
    over, event = parse(b"data: 0123456789\n" * 100 + b"\ndata: next\n\n", limit=200)
    assert isinstance(over, OversizeEvent)
    assert event == SseEvent(b"next")


def test_a_line_that_never_ends_holds_no_more_than_the_limit() -> None:
    parser = EventParser(limit=1000)
    for _ in range(100):
        assert parser.feed(b"x" * 500) == []
    assert parser.overflowing
    assert sum(map(len, parser._line)) == 0


def seconds_for(size: int) -> float:
    parser = EventParser()
    started = time.process_time()
    for _ in range(size):
        parser.feed(b"x" * 16)
    return time.process_time() - started


def test_the_time_taken_grows_with_the_bytes_and_not_faster() -> None:
    small = min(seconds_for(10_000) for _ in range(3))
    assert seconds_for(80_000) < 8 * small * 4


FIELDS = st.sampled_from(
    [b"data: a", b"data:", b"data: " + b"y" * 40, b"id: 1", b"id: 2", b"event: x", b"retry: 9"]
)
LINES = st.one_of(FIELDS, st.sampled_from([b"", b"", b": hello", b"unknown: 1", b"\xff\xfe"]))
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    st.lists(st.tuples(LINES, ENDS), max_size=30).map(
        lambda rows: b"".join(a + b for a, b in rows)
    ),
    st.lists(st.integers(0, 600), max_size=20),
)
def test_any_chunking_gives_the_same_events(text: bytes, cuts: list[int]) -> None:
    borders = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(borders)]
    assert parse_in(pieces, limit=60) == parse(text, limit=60)
