"""The outcome of a call: the server's result object as it came, and where it came from."""

from functools import cached_property
from typing import cast

import msgspec
import orjson


class Outcome(msgspec.Struct, frozen=True, dict=True):
    """What a tool answered. A msgspec struct because one is made for every call.

    Attributes:
        raw: The result object, as the bytes that came.
        server: The name of the server that answered.
        tool: The tool, by the server's own name for it.
        ms: How long the call took, in milliseconds.
        tried: The servers that were asked, in order.
    """

    raw: bytes
    server: str
    tool: str
    ms: float
    tried: tuple[str, ...] = ()

    @cached_property
    def result(self) -> dict[str, object]:
        """The result object, with every member it had."""
        return cast("dict[str, object]", orjson.loads(self.raw))

    @property
    def is_error(self) -> bool:
        """Whether the tool itself said that it failed."""
        return self.result.get("isError") is True

    @property
    def text(self) -> str:
        """The text parts of the result, joined by line breaks."""
        content = self.result.get("content")
        parts = cast("list[object]", content) if isinstance(content, list) else []
        texts = [
            cast("dict[str, object]", part).get("text") for part in parts if isinstance(part, dict)
        ]
        return "\n".join(text for text in texts if isinstance(text, str))

    def to_dict(self) -> dict[str, object]:
        """The outcome as REST, the command line and the toolbox show it."""
        yard = {
            "server": self.server,
            "tool": self.tool,
            "ms": round(self.ms, 3),
            "attribution": self.server,
            "tried": [*self.tried] or [self.server],
        }
        return {**self.result, "yard": yard}
