"""A tool as its server describes it: kept whole, read through properties."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import object_of
from mcpyard.domain.nesting import nested_deeper

MOST_LEVELS: Final = 128
"""Objects and arrays in each other; what is deeper cannot be written again by every program."""


class ToolDefinition(Struct, frozen=True):
    """One tool; `raw` is the object as it came, with every member that we do not know."""

    name: str
    raw: Mapping[str, object]

    @property
    def title(self) -> str | None:
        """What to call it before people."""
        return self._text("title")

    @property
    def description(self) -> str:
        """What it does, in its server's words."""
        return self._text("description") or ""

    @property
    def input_schema(self) -> object:
        """The schema of its arguments."""
        return self.raw.get("inputSchema", {})

    @property
    def output_schema(self) -> object | None:
        """The schema of its structured result, where it has one."""
        return self.raw.get("outputSchema")

    @property
    def annotations(self) -> Mapping[str, object]:
        """The server's hints about it; not to be trusted."""
        return object_of(self.raw.get("annotations"))

    def _text(self, key: str) -> str | None:
        text = self.raw.get(key)
        return text if isinstance(text, str) else None


def read_tools(listed: Iterable[object]) -> tuple[tuple[ToolDefinition, ...], tuple[Problem, ...]]:
    """The tools a server listed, and what in the list cannot be used.

    Of two tools with one name the first counts: a call could reach only one of them.
    """
    tools: dict[str, ToolDefinition] = {}
    problems: list[Problem] = []
    for index, each in enumerate(listed):
        raw = object_of(each)
        name = raw.get("name")
        if not isinstance(name, str) or not name:
            problems.append(Problem(f"tools[{index}]", "has no name"))
        elif name in tools:
            problems.append(Problem(f"tools[{index}]", f'repeats the name "{name[:80]}"'))
        elif nested_deeper(raw, MOST_LEVELS):
            fault = f'("{name[:80]}") is nested more than {MOST_LEVELS} levels deep and is left out'
            problems.append(Problem(f"tools[{index}]", fault))
        else:
            tools[name] = ToolDefinition(name, raw)
    return tuple(tools.values()), tuple(problems)
