from mcpyard.domain.tool import ToolDefinition, read_tools


def test_a_tool_is_kept_whole_and_read_through_properties() -> None:
    raw = {
        "name": "t",
        "title": "T",
        "description": "does",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "string"},
        "annotations": {"readOnlyHint": True},
        "vendor": 1,
    }
    ((tool,), problems) = read_tools([raw])
    assert problems == ()
    assert (tool.name, tool.title, tool.description) == ("t", "T", "does")
    assert (tool.input_schema, tool.output_schema) == ({"type": "object"}, {"type": "string"})
    assert tool.annotations == {"readOnlyHint": True}
    assert tool.raw["vendor"] == 1


def test_what_a_server_leaves_out_or_spells_wrong_does_no_harm() -> None:
    tool = ToolDefinition("t", {"name": "t", "title": 3, "annotations": []})
    assert (tool.title, tool.description, tool.input_schema) == (None, "", {})
    assert (tool.output_schema, tool.annotations) == (None, {})


def test_of_two_tools_with_one_name_the_first_counts() -> None:
    tools, problems = read_tools([{"name": "a", "n": 1}, {"name": "a", "n": 2}, {"name": "b"}])
    assert [tool.raw.get("n") for tool in tools] == [1, None]
    assert [str(problem) for problem in problems] == ['tools[1]: repeats the name "a"']


def test_what_is_no_tool_is_told_and_left_out() -> None:
    tools, problems = read_tools([3, {"name": ""}, {}, {"name": 1}, {"name": "ok"}])
    assert [tool.name for tool in tools] == ["ok"]
    assert [problem.field for problem in problems] == [f"tools[{index}]" for index in range(4)]
