"""A list that is made anew has the items it had, as far as they are what they were."""

from pathlib import Path

import pytest

from mcpyard.app import open_yard
from mcpyard.gateway.exposures import TOOLS, Exposure
from mcpyard.gateway.selection import Selections
from tests.gateway.talking import odd_server

pytestmark = pytest.mark.real


def items(exposure: Exposure) -> dict[str, bytes]:
    return dict(zip(exposure.tools, exposure._lists[TOOLS].items, strict=True))


async def test_only_what_changed_is_encoded_again(tmp_path: Path) -> None:
    async with open_yard(home=tmp_path, environment={}) as yard:
        for name in ("one", "two"):
            await yard.register({"name": name, **odd_server()}, wait=20)
        selections = Selections(yard)
        before = items(selections.exposure("/mcp"))
        await yard.change_tool("two", "nonce", {"description": "Another one."})
        after = items(selections.exposure("/mcp"))
        assert after.keys() == before.keys()
        plain = {name for name in before if b'"_meta"' not in before[name]}
        same = {name for name in plain if after[name] is before[name]}
        assert same == {name for name in plain if name.startswith("mcp_one_")}
        assert same
        assert b"Another one." in after["mcp_two_nonce"]
        await yard.stop("one", wait=10)
        left = items(selections.exposure("/mcp"))
        assert left.keys() == {name for name in after if name.startswith("mcp_two_")}
        assert len(selections.exposure("/mcp")._items) <= len(left)
