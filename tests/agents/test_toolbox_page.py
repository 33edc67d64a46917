"""What the page about the toolbox says is so."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from mcpyard import Outcome
from mcpyard.yard.calls.outcome import ErrorKind
from tests.agents.fs_yard import yard_of_fs

PAGE = (Path(__file__).parents[2] / "docs" / "toolbox.md").read_text()
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.real
async def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(EXAMPLE, "toolbox.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    async with yard_of_fs() as yard:
        left: dict[str, Any] = {"yard": yard}
        await eval(code, left)  # noqa: S307  our own page
    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*?\)  # (.*)", EXAMPLE)
    assert {"add", "plus", "mcp_fs_read_file"} <= {tool.name for tool in left["box"]}


def test_every_kind_of_error_and_every_part_of_an_outcome_is_on_the_page() -> None:
    members = {"text", "structured", "result", "parts", "is_error", "error", "attribution"}
    fields = {*Outcome.__struct_fields__} - {"raw", "fault"}
    for word in {*ErrorKind} | members | fields:
        assert f"`{word}`" in PAGE, word
