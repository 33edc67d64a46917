import re
from itertools import permutations
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.catalog.names import MAX_NAME, ToolKey, assign, slug

PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}")
ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))

any_text = st.text(st.characters(exclude_categories=()), max_size=80)
server_ids = st.integers(1, 4).map(lambda number: UUID(int=number))
crowded = st.sampled_from(
    ["files", "Files", "f/iles", "f_iles", "a_b", "a", "b_c", "文件", "x" * 70]
)
keys = st.builds(ToolKey, server_ids, crowded | any_text, crowded | any_text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read_file", "read_file"),
        ("Read-File", "Read-File"),
        ("__init__", "__init__"),
        ("a  / b", "a_b"),
        ("/etc/hosts/", "etc_hosts"),
        ("Ünïté", "Unite"),
        ("文件系统服务", "WenJianXiTongFuWu"),
    ],
)
def test_a_slug_keeps_what_is_allowed_and_makes_the_rest_readable(text: str, expected: str) -> None:
    assert slug(text) == expected


@pytest.mark.parametrize("text", ["", "///", "\ud800", "\U000e1234"])
def test_a_text_without_usable_characters_gets_a_stable_slug(text: str) -> None:
    assert re.fullmatch(r"x[0-9a-f]{8}", slug(text))
    assert slug(text) == slug(text)


def test_texts_without_usable_characters_get_different_slugs() -> None:
    assert len({slug("///"), slug("//"), slug(""), slug("\ud800")}) == 4


@pytest.mark.parametrize("text", ["文" * 350_000, "/" * 1_000_000, "a/" * 500_000])
def test_a_slug_of_a_megabyte_is_quick(text: str) -> None:
    assert slug(text)


def test_a_new_tool_is_named_after_its_server_and_itself() -> None:
    key = ToolKey(ONE, "file system", "read")
    assert assign([key], {}) == {key: "mcp_file_system_read"}


def test_a_renamed_server_keeps_its_exposed_names() -> None:
    before = assign([ToolKey(ONE, "old", "read")], {})
    after = assign([ToolKey(ONE, "new", "read")], before)
    assert list(after.values()) == ["mcp_old_read"]


def test_the_smallest_server_id_keeps_the_plain_name() -> None:
    tools = [ToolKey(server, "s", "t") for server in (TWO, ONE, THREE)]
    names = assign(tools, {})
    assert names[ToolKey(ONE, "s", "t")] == "mcp_s_t"
    assert all(re.fullmatch("mcp_s_t_[0-9a-f]{8}", names[key]) for key in (tools[0], tools[2]))


def test_within_one_server_the_first_tool_by_name_keeps_the_plain_name() -> None:
    names = assign([ToolKey(ONE, "s", "a_b"), ToolKey(ONE, "s", "a b")], {})
    assert names[ToolKey(ONE, "s", "a b")] == "mcp_s_a_b"
    assert names[ToolKey(ONE, "s", "a_b")].startswith("mcp_s_a_b_")


def test_an_earlier_name_wins_over_a_smaller_server_id() -> None:
    old, new = ToolKey(TWO, "s", "t"), ToolKey(ONE, "s", "t")
    names = assign([new, old], {old: "mcp_s_t"})
    assert names[old] == "mcp_s_t"
    assert names[new].startswith("mcp_s_t_")


def test_the_name_of_a_tool_that_is_away_stays_reserved() -> None:
    away, new = ToolKey(TWO, "s", "t"), ToolKey(ONE, "s", "t")
    names = assign([new], {away: "mcp_s_t"})
    assert set(names) == {new}
    assert names[new] != "mcp_s_t"


def test_names_that_differ_in_case_only_are_two() -> None:
    names = assign([ToolKey(ONE, "s", "Read"), ToolKey(ONE, "s", "read")], {})
    assert set(names.values()) == {"mcp_s_Read", "mcp_s_read"}


@pytest.mark.parametrize(("length", "is_cut"), [(MAX_NAME - 6, False), (MAX_NAME - 5, True)])
def test_a_name_is_cut_only_beyond_the_limit(length: int, *, is_cut: bool) -> None:
    (name,) = assign([ToolKey(ONE, "s", "t" * length)], {}).values()
    assert len(name) == MAX_NAME
    assert bool(re.search("_[0-9a-f]{8}$", name)) is is_cut


def test_long_names_with_the_same_beginning_stay_apart() -> None:
    tools = [ToolKey(ONE, "s", "t" * 100 + ending) for ending in "ab"]
    assert len(set(assign(tools, {}).values())) == 2


def test_a_clash_of_hashes_is_settled_by_another_hash() -> None:
    tools = [ToolKey(server, "s", "t") for server in (ONE, TWO, THREE)]
    names = assign(tools, {}, digest=lambda _, attempt: f"{attempt:08x}")
    assert [names[key] for key in tools] == ["mcp_s_t", "mcp_s_t_00000000", "mcp_s_t_00000001"]


def test_our_own_hashes_differ_by_server_and_tool() -> None:
    long = "t" * 100
    tools = [ToolKey(server, "s", long + ending) for server in (ONE, TWO) for ending in "ab"]
    assert len({assign([key], {})[key] for key in tools}) == 4


def test_one_tool_under_two_server_names_gets_one_name_in_any_order() -> None:
    tools = [ToolKey(ONE, name, "t") for name in "cab"]
    results = {tuple(assign(order, {}).values()) for order in permutations(tools)}
    assert results == {("mcp_a_t",)}


@given(st.lists(keys, max_size=12), st.randoms())
def test_names_are_unique_and_usable_and_independent_of_the_order(
    tools: list[ToolKey], random: Random
) -> None:
    names = assign(tools, {})
    assert set(names) == set(tools)
    assert len(set(names.values())) == len(names)
    assert all(PATTERN.fullmatch(name) for name in names.values())
    shuffled = random.sample(tools, len(tools))
    assert assign(shuffled, {}) == names


@given(st.lists(keys, max_size=8), st.lists(keys, max_size=8))
def test_tools_that_come_later_never_shift_anybody(
    first: list[ToolKey], later: list[ToolKey]
) -> None:
    earlier = assign(first, {})
    names = assign(first + later, earlier)
    assert {key: names[key] for key in earlier} == earlier
    assert len(set(names.values())) == len(names)


@given(st.lists(keys, max_size=12))
def test_every_name_leads_back_to_its_tool(tools: list[ToolKey]) -> None:
    names = assign(tools, {})
    back = {name: key for key, name in names.items()}
    assert {key: back[name] for key, name in names.items()} == {key: key for key in names}


@given(any_text)
def test_any_text_has_a_usable_slug(text: str) -> None:
    assert re.fullmatch("[A-Za-z0-9_-]+", slug(text))


def test_a_reserved_name_is_given_to_no_tool_but_one_that_had_it_keeps_it() -> None:
    key = ToolKey(ONE, "files", "read")
    reserved = ["mcp_files_read"]
    assert assign([key], {}, reserved=reserved)[key].startswith("mcp_files_read_")
    assert assign([key], {key: "mcp_files_read"}, reserved=reserved) == {key: "mcp_files_read"}
