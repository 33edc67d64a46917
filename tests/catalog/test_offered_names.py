import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.catalog.names import MAX_NAME
from mcpyard.catalog.offered_names import offer

ACCEPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


@pytest.mark.parametrize("name", ["mcp_fs_read_file", "_x", "a-b", "a" * MAX_NAME])
def test_an_accepted_name_is_offered_as_it_is(name: str) -> None:
    assert offer([name]) == {name: name}


@pytest.mark.parametrize(
    ("name", "offered"),
    [("3d_view", "_3d_view"), ("-x", "_-x"), ("files.read", "files_read"), ("查询", "ChaXun")],
)
def test_another_one_is_offered_by_one_like_it(name: str, offered: str) -> None:
    assert offer([name])[name] == offered


def test_a_name_like_one_that_is_taken_gets_a_suffix() -> None:
    names = offer(["a.b", "a/b", "a_b"])
    assert names["a_b"] == "a_b"
    assert names["a.b"].startswith("a_b_")
    assert len({*names.values()}) == 3


def test_long_names_that_begin_alike_stay_apart() -> None:
    one, other = "x" * 100 + "1", "x" * 100 + "2"
    names = offer([one, other])
    assert names[one] != names[other]
    assert len(names[one]) == MAX_NAME


@given(st.lists(st.text(max_size=70) | st.sampled_from(["a.b", "a_b", "a/b", "1", "_1"])))
def test_every_name_is_offered_once_and_accepted(names: list[str]) -> None:
    offered = offer(names)
    assert {*offered} == {*names}
    assert len({*offered.values()}) == len(offered)
    assert all(ACCEPTED.fullmatch(each) for each in offered.values())
