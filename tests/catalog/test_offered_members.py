import pytest

from mcpyard.catalog.lowering import Schema
from mcpyard.catalog.offered_members import offer_members, own_members


def of(*names: str, **more: object) -> Schema:
    return {"type": "object", "properties": {name: {"title": name} for name in names}, **more}


def test_a_schema_with_accepted_names_is_as_it_was() -> None:
    schema = of("path", "lines", required=["path"])
    assert offer_members(schema) is schema


def test_another_name_is_replaced_wherever_it_stands() -> None:
    schema = of("$filter", "filter", "名称", required=["$filter", "名称", "other"])
    offered = offer_members(schema)
    members = offered["properties"]
    assert isinstance(members, dict)
    names = {member["title"]: name for name, member in members.items()}
    assert names["filter"] == "filter"
    assert names["名称"] == "MingCheng"
    assert names["$filter"].startswith("filter_")
    assert offered["required"] == [names["$filter"], "MingCheng", "other"]


def test_nothing_is_required_where_nothing_was() -> None:
    assert "required" not in offer_members(of("a b"))


@pytest.mark.parametrize("arguments", [{"MingCheng": 1, "more": 2}, {"名称": 1, "more": 2}])
def test_arguments_reach_the_tool_by_its_own_names(arguments: dict[str, object]) -> None:
    assert own_members(arguments, of("名称")) == {"名称": 1, "more": 2}


def test_what_is_no_object_is_left_alone() -> None:
    assert own_members("text", of("a")) == "text"
