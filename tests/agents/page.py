"""The snippets of the page about agents, by the headings that they stand under."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()


def _snippets() -> dict[str, str]:
    snippets: dict[str, str] = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE):
        title = section.partition("\n")[0].lstrip("# ")
        for place, text in enumerate(re.findall(r"```python\n(.*?)```", section, re.DOTALL)):
            snippets[f"{title}, {place + 1}" if place else title] = text
    return snippets


SNIPPETS = _snippets()


async def run(snippet: str, **names: object) -> dict[str, Any]:
    """Run a snippet that awaits at its outermost level; gives the names it leaves."""
    code = compile(snippet, "agents.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    left: dict[str, Any] = dict(names)
    ran = eval(code, left)  # noqa: S307  our own page
    if inspect.isawaitable(ran):
        await ran
    return left
