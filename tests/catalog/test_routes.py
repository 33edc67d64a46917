from uuid import UUID

import pytest

from mcpyard.catalog.routes import FallbackRoute, Route, fallbacks_of
from mcpyard.domain.model import FallbackTool, ToolPolicy
from mcpyard.domain.tool import ToolDefinition


def route(policy: ToolPolicy, **annotations: object) -> Route:
    tool = ToolDefinition("t", {"name": "t", "annotations": annotations})
    return Route(UUID(int=1), "s", tool, "mcp_s_t", policy)


@pytest.mark.parametrize(
    ("policy", "hints", "safe"),
    [
        (None, {}, False),
        (None, {"readOnlyHint": True}, True),
        (None, {"idempotentHint": True}, True),
        (None, {"readOnlyHint": "yes"}, False),
        (True, {}, True),
        (False, {"readOnlyHint": True}, False),
    ],
)
def test_a_tool_is_safe_to_repeat_when_the_user_or_else_its_server_says_so(
    policy: bool | None, hints: dict[str, object], *, safe: bool
) -> None:
    assert route(ToolPolicy(repeatable=policy), **hints).repeatable is safe


def test_the_fallbacks_of_a_tool_are_its_own_or_else_its_servers() -> None:
    own = ToolPolicy(fallback=[FallbackTool(server="c", tool="find", arguments={"a": "b"})])
    assert fallbacks_of("t", ToolPolicy(), ["a", "b"]) == (
        FallbackRoute("a", "t"),
        FallbackRoute("b", "t"),
    )
    assert fallbacks_of("t", own, ["a"]) == (FallbackRoute("c", "find", {"a": "b"}),)
    assert fallbacks_of("t", ToolPolicy(fallback=[]), ["a"]) == ()


def test_arguments_are_renamed_left_out_or_left_alone() -> None:
    fallback = FallbackRoute("c", "find", {"query": "q", "shelf": None})
    arguments = {"query": "x", "shelf": 3, "limit": 1}
    assert fallback.translate(arguments) == {"q": "x", "limit": 1}
