"""What holds for TOML 1.1: no edit asks for it, and the comments in its braces stay."""

import re
import tomllib

import tomli
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.formats.editors.jsonc_scan import BOM
from mcpyard.formats.editors.toml import parse, put_table, set_value
from mcpyard.formats.editors.toml_edit import remove
from mcpyard.formats.editors.toml_scan import scan
from mcpyard.formats.editors.toml_values import same
from tests.formats.test_toml_properties import DOCUMENTS, NEW, TABLES, VALUES, Value, pick


def is_older(text: str) -> bool:
    """Whether a text is TOML 1.0."""
    try:
        tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError:
        return False
    return True


@given(DOCUMENTS, st.data(), TABLES, VALUES)
def test_no_edit_makes_a_text_newer_than_it_is(
    text: str, data: st.DataObject, table: Value, value: Value
) -> None:
    before = parse(text).value
    path = pick(data, before)
    if not path or not is_older(text):
        return
    assert is_older(set_value(text, path, value))
    assert is_older(put_table(text, (NEW, "x"), table))
    assert is_older(remove(scan(text), path[:-1], path[-1:]))


OWN_LINE = re.compile(r"(?m)^[ \t]*#[^\r\n]*")
INLINE = st.builds(
    lambda items, lead, tail: "{" + lead + "".join(items) + tail + "}",
    st.lists(
        st.builds(
            lambda name, value, after: f"{name} = {value}{after}",
            st.sampled_from(("a", "b", "c", "d")),
            st.sampled_from(("1", '"#"', "[\n1 # in\n]", "{\n# in\n}")),
            st.sampled_from(
                (", ", ",", ",\n", ", # tail\n", ",\n  # own\n  ", "\n# own\n  , ", " # tail\n,\n")
            ),
        ),
        max_size=4,
    ),
    st.sampled_from(("", " ", "\n", "\n  ", " # lead\n", "\n  # own\n  ")),
    st.sampled_from(("", " ", "\n", "\n  # own\n")),
)


@given(INLINE, st.sampled_from(["\n", "\r\n"]), st.data())
def test_comments_on_lines_of_their_own_stay_in_braces(
    braces: str, newline: str, data: st.DataObject
) -> None:
    text = f"t = {braces}\n".replace("\n", newline)
    try:
        before = tomli.loads(text)["t"]
    except tomli.TOMLDecodeError:
        return
    added = set_value(text, ("t", NEW), 1)
    assert remove(scan(added), ("t",), [NEW]) == text
    if before:
        name = data.draw(st.sampled_from(sorted(before)))
        after = set_value(text, ("t",), {each: before[each] for each in before if each != name})
        assert same(tomli.loads(after)["t"], {k: v for k, v in before.items() if k != name})
        comments = [each.strip() for each in OWN_LINE.findall(after)]
        assert comments.count("# own") >= [each.strip() for each in OWN_LINE.findall(text)].count(
            "# own"
        )
