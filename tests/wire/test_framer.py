import itertools
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from mcpyard.wire.framer import KEPT, Crossed, LineFramer, OversizeLine

LIMIT = 20
LINE = st.one_of(
    st.binary(max_size=2 * LIMIT).map(lambda line: line.replace(b"\n", b"")),
    st.sampled_from(
        [b"", b"\r", b"x" * LIMIT, b"x" * (LIMIT + 1), b"".join(b"%d," % n for n in range(3000))]
    ),
)


def feed(chunks: list[bytes], limit: int = LIMIT) -> list[bytes | Crossed | OversizeLine]:
    framer = LineFramer(limit)
    return [event for chunk in chunks for event in framer.feed(chunk)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def plain(lines: list[bytes]) -> list[bytes | Crossed | OversizeLine]:
    """What the lines should give, written without any thought of chunks."""
    events: list[bytes | Crossed | OversizeLine] = []
    for line in lines:
        if len(line) > LIMIT:
            head = line[: LIMIT + 1]
            events += [Crossed(head), OversizeLine(head, line[-KEPT:], len(line))]
        elif line.removesuffix(b"\r"):
            events.append(line.removesuffix(b"\r"))
    return events


@given(st.lists(LINE, max_size=8), st.lists(st.integers(0, 100_000), max_size=40))
def test_any_chunking_gives_what_the_lines_say(lines: list[bytes], places: list[int]) -> None:
    data = b"".join(line + b"\n" for line in lines)
    assert feed(cut(data, places)) == plain(lines)


def test_a_line_without_end_is_not_told_as_a_frame() -> None:
    assert feed([b'{"a":1}']) == []


def test_carriage_returns_and_empty_lines_are_tolerated() -> None:
    assert feed([b"\r\n\n{}\r", b"\n\r", b"\n[]\n"]) == [b"{}", b"[]"]


def test_a_line_of_exactly_the_limit_is_a_frame() -> None:
    assert feed([b"x" * LIMIT + b"\n"]) == [b"x" * LIMIT]


def test_the_frame_after_an_oversize_line_is_intact() -> None:
    long = b'{"id":7,' + b"z" * 100
    assert feed([long[:50], long[50:] + b"\n{}\n"]) == [
        Crossed(long[: LIMIT + 1]),
        OversizeLine(long[: LIMIT + 1], long, len(long)),
        b"{}",
    ]


def test_no_newline_for_ever_is_told_once_and_stays_bounded() -> None:
    limit, chunk = 1 << 20, b"x" * (1 << 16)
    framer = LineFramer(limit)
    tracemalloc.start()
    try:
        events = [event for _ in range(512) for event in framer.feed(chunk)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert events == [Crossed(b"x" * KEPT)]
    assert framer.skipped == 512 * len(chunk)
    assert peak < 2.5 * limit
