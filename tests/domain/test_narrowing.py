"""JSON of which nothing is known: anything else than what is asked for holds nothing."""

from types import MappingProxyType

import pytest

from mcpyard.domain import narrowing


@pytest.mark.parametrize("odd", [None, 1, "text", [1], (1,)])
def test_what_is_no_object_has_no_members(odd: object) -> None:
    assert narrowing.object_of(odd) == {}
    assert narrowing.mapping_of(odd) == {}


def test_an_object_is_taken_as_it_is() -> None:
    value = {"a": 1}
    assert narrowing.object_of(value) is value
    assert narrowing.mapping_of(value) is value
    assert narrowing.is_mapping(MappingProxyType(value))
    assert not narrowing.is_object(MappingProxyType(value))


@pytest.mark.parametrize("odd", [None, 1, "text", {"a": 1}, (1,)])
def test_what_is_no_array_has_no_items(odd: object) -> None:
    assert narrowing.list_of(odd) == []
    assert narrowing.texts_of(odd) == []
    assert not narrowing.is_texts(odd)


def test_texts_are_told_from_other_items() -> None:
    assert narrowing.texts_of(["a", 1, "b"]) == ["a", "b"]
    assert not narrowing.is_texts(["a", 1])
    assert narrowing.is_texts(["a"])
    assert narrowing.is_sequence((1,))
