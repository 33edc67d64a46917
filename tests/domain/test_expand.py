import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.definition.expand import (
    MAX_NESTING,
    BadReference,
    Expansion,
    expand,
    variables_in,
)

VALUES = {"TOKEN": "abc123", "EMPTY": "", "SELF": "${SELF}", "keyring:github": "s3cret"}


def fill(text: str) -> Expansion:
    return expand(text, VALUES.get)


@pytest.mark.spec("A1.3")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${TOKEN}", "abc123"),
        ("Bearer ${TOKEN}!", "Bearer abc123!"),
        ("${TOKEN}${TOKEN}", "abc123abc123"),
        ("${NONE:-8080}", "8080"),
        ("${NONE:-}", ""),
        ("${TOKEN:-other}", "abc123"),
        ("${NONE:-${TOKEN}}", "abc123"),
        ("${NONE:-a${ALSO_NONE:-b}c}", "abc"),
        ("${NONE:-:-}", ":-"),
        ("${keyring:github}", "s3cret"),
        ("no reference, $TOKEN, $, {}", "no reference, $TOKEN, $, {}"),
    ],
)
def test_references_are_replaced(text: str, expected: str) -> None:
    assert fill(text) == Expansion(expected)


def test_a_variable_that_is_set_but_empty_stays_empty() -> None:
    assert fill("[${EMPTY:-default}]").text == "[]"


def test_a_variable_that_refers_to_itself_is_put_in_once() -> None:
    assert fill("${SELF}").text == "${SELF}"


def test_every_missing_variable_is_named_once() -> None:
    assert fill("${A}-${B}-${A}-${TOKEN}").missing == ("A", "B")


def test_a_default_that_is_not_used_needs_no_variables() -> None:
    assert fill("${TOKEN:-${A}}").missing == ()


def test_two_dollars_stand_for_a_plain_one() -> None:
    assert fill("echo $${HOME} ${NONE:-$${x}}").text == "echo ${HOME} ${x}"


@pytest.mark.parametrize(
    ("text", "offset"),
    [("a${TOKEN", 1), ("${", 0), ("${NONE:-x", 0), ("${TOKEN}${NONE:-${A}", 8), ("x ${env:A", 2)],
)
def test_a_reference_that_is_never_closed_is_refused(text: str, offset: int) -> None:
    with pytest.raises(BadReference, match="never closed") as caught:
        fill(text)
    assert caught.value.offset == offset


@pytest.mark.parametrize("text", ["${}", "${1}", "${a b}", "${env:A}", "${TOKEN:=x}", "${#a[@]}"])
def test_what_is_not_a_name_is_refused_with_advice(text: str) -> None:
    with pytest.raises(BadReference, match=r"is not a reference; write \$\{NAME\}"):
        fill(text)


def test_defaults_nested_without_end_are_refused_rather_than_recursed_into() -> None:
    with pytest.raises(BadReference, match="nested"):
        fill("${NONE:-" * (MAX_NESTING + 1) + "}" * (MAX_NESTING + 1))
    with pytest.raises(BadReference, match="nested"):
        fill("${NONE:-" * 100_000)


@given(st.text(alphabet=st.sampled_from("${}:-AB\n\ud800é")) | st.text())
def test_any_text_expands_or_is_refused_with_an_offset_inside_it(text: str) -> None:
    try:
        offset = None if fill(text).text == text else text.index("${")
    except BadReference as error:
        offset = error.offset
    assert offset is None or text.startswith("${", offset)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plain $NAME $${NOT}", ()),
        ("${A}-${B}-${A}", ("A", "B")),
        ("${A:-${B:-${keyring:C}}}", ("A", "B", "keyring:C")),
        ("${A:-}", ("A",)),
        ("${A} ${", ()),
    ],
)
def test_the_variables_of_a_text_are_known_with_those_of_its_defaults(
    text: str, names: tuple[str, ...]
) -> None:
    assert variables_in(text) == names
