"""Tags of a server: what one is, and how a wrong one is refused."""

import pytest

from mcpyard.domain.definition.approval import bound
from mcpyard.domain.definition.launch import make_launch
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.tags import LONGEST_TAG, MOST_TAGS, tags_of_text
from mcpyard.domain.errors import DefinitionError

SERVER = {"type": "local", "command": ["a"]}


def problems(tags: object) -> list[str]:
    with pytest.raises(DefinitionError) as caught:
        read_definition(SERVER | {"tags": tags})
    return [str(each) for each in caught.value.problems]


def test_tags_are_texts_in_the_order_that_was_written() -> None:
    most = [f"tag {number}" for number in range(MOST_TAGS)]
    for tags in ([], ["work", "Work"], ["法律", "a b/c"], ["x" * LONGEST_TAG], most):
        reading = read_definition(SERVER | {"tags": tags})
        assert (reading.config.tags, reading.warnings) == (tags, ())
    assert read_definition(SERVER).config.tags == []


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("work", "tags: expected a list, found a string"),
        ({"a": 1}, "tags: expected a list, found an object"),
        (["a", 3], 'tags[1]: expected a string, found the number 3 (write "3")'),
        ([""], "tags[0]: must not be empty"),
        (["a", " "], "tags[1]: must not be empty"),
        ([" a"], "tags[0]: must not begin or end with white space"),
        (["a,b"], "tags[0]: must not contain a comma"),
        (["a\nb"], "tags[0]: contains a control character"),
        (["a\u202eb"], "tags[0]: contains a control character"),
        (["a\ud800"], "tags[0]: contains invalid Unicode (a lone surrogate)"),
        (["x" * 51], "tags[0]: is 51 characters long; 50 are allowed"),
        ([str(number) for number in range(21)], "tags: has 21 tags; 20 are allowed"),
        (["a", "b", "a"], 'tags: contains "a" twice'),
    ],
)
def test_a_wrong_tag_is_refused_by_its_place(tags: object, expected: str) -> None:
    assert problems(tags) == [expected]


def test_typed_tags_have_commas_between_them() -> None:
    assert tags_of_text(" work, home office ,,法律") == ["work", "home office", "法律"]
    assert tags_of_text(" , ") == []


def test_tags_need_no_other_process_and_no_approval() -> None:
    plain, tagged = (
        read_definition(SERVER | more).config for more in ({}, {"tags": ["work", "home"]})
    )
    assert make_launch(plain, {}.get) == make_launch(tagged, {}.get)
    assert bound(plain) == bound(tagged)
