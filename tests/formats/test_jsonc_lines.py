import re

from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.errors import SourceLocation
from mcpyard.formats.editors.jsonc_lines import Lines

TEXTS = st.lists(st.sampled_from(["a", "bc", "\n", "\r\n", "\r", "é", "\u2028"]), max_size=20)


@given(st.sampled_from(["", "\ufeff"]), TEXTS, st.data())
def test_a_place_is_the_same_in_whatever_order_places_are_asked_for(
    mark: str, pieces: list[str], data: st.DataObject
) -> None:
    text = mark + "".join(pieces)
    # Nothing begins in the middle of a line end.
    starts = [
        at for at in range(len(mark), len(text) + 1) if text[max(at - 1, 0) : at + 1] != "\r\n"
    ]
    lines = Lines(text, "f")
    for offset in data.draw(st.permutations(starts)):
        *before, last = re.split("\r\n|\r|\n", text[len(mark) : offset])
        assert lines.place(offset) == SourceLocation("f", len(before) + 1, len(last) + 1)
