"""Results that are too long for a model: cut where it can see it, with a tool to read on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Final

import msgspec
import orjson
from pydantic import Field

from mcpyard.domain.errors import InputError
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.calls.parts import Audio, Image, Part, Resource, write_part
from mcpyard.yard.toolbox.agent_tool import Calling, Tool
from mcpyard.yard.toolbox.gathering import Extension
from mcpyard.yard.toolbox.own_tools import own_tool
from mcpyard.yard.toolbox.rendering import as_text

READ_MORE: Final = "read_more"
KEPT_BYTES: Final = 64 * 1024 * 1024
"""What all long results of a toolbox together may take in memory; the oldest go first."""

_ATTRIBUTION: Final = "mcpyard/attribution"


class LongResults:
    """The long results of one toolbox, for as long as it lives.

    Args:
        limit: The most characters of a result.
        most: The most bytes that are kept.
    """

    def __init__(self, limit: int, most: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._most = most
        self._texts: dict[str, str] = {}
        self._size = 0
        self._count = 0

    def cutting(self, tool: Tool) -> Tool:
        """A tool whose long results are cut."""
        return replace(tool, calling=self._cutting(tool.calling))

    def tool(self) -> Tool:
        """The tool that reads on."""
        return own_tool(
            self._read,
            name=READ_MORE,
            title="Read more",
            description="Read on in a tool result that was cut because of its length.",
            annotations={"readOnlyHint": True},
        )

    def _cutting(self, calling: Calling) -> Calling:
        async def call(
            arguments: Mapping[str, object] | None,
            seconds: float | None,
            progress: Progress | None,
        ) -> Outcome:
            outcome = await calling(arguments, seconds, progress)
            # Every character takes a byte at least, so most results are not even looked at.
            return self._cut(outcome) if len(outcome.raw) > self._limit else outcome

        return call

    def _cut(self, outcome: Outcome) -> Outcome:
        media = [each for each in outcome.parts if _is_media(each)]
        text = as_text(_without(outcome, media))
        if len(text) <= self._limit:
            return outcome
        members = {key: outcome.result[key] for key in ("isError",) if key in outcome.result}
        excerpt = {"type": "text", "text": self._piece(self._keep(text), text, 0)}
        result = {
            **members,
            "content": [excerpt, *map(write_part, media)],
            "_meta": {_ATTRIBUTION: outcome.attribution.to_dict()},
        }
        return msgspec.structs.replace(outcome, raw=orjson.dumps(result))

    def _keep(self, text: str) -> str | None:
        """The name that a text is kept under; None for one that is too long for that."""
        size = len(text.encode())
        if size > self._most:
            return None
        self._count += 1
        self._texts[f"r{self._count}"] = text
        self._size += size
        while self._size > self._most:
            oldest = next(iter(self._texts))
            self._size -= len(self._texts.pop(oldest).encode())
        return f"r{self._count}"

    def _piece(self, name: str | None, text: str, offset: int) -> str:
        end = min(len(text), offset + self._limit)
        piece = text[offset:end]
        if end == len(text):
            return piece
        seen = f"[cut: characters {offset} to {end} of {len(text)}"
        if name is None:
            return f"{piece}\n{seen}; the rest is too long to be kept]"
        return f'{piece}\n{seen}; call {READ_MORE} with id "{name}" and offset {end} to read on]'

    async def _read(
        self,
        id: Annotated[str, Field(description="The id of the cut result.")],  # noqa: A002  what the model reads
        offset: Annotated[int, Field(ge=0, description="The first character to read.")],
    ) -> str:
        text = self._texts.get(id)
        if text is None:
            raise InputError(f'the result "{id[:40]}" is not kept any more; call the tool again')
        if offset >= len(text):
            raise InputError(f"the result has only {len(text)} characters")
        return self._piece(id, text, offset)


def cutting_results(limit: int) -> Extension:
    """Cuts results over a limit, and adds the tool that reads on.

    Raises:
        ValueError: A result would have no characters.
    """
    if limit < 1:
        raise ValueError(f"max_result: expected at least 1, found {limit}")
    results = LongResults(limit)
    reading = results.tool()

    def extend(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        return (reading, *map(results.cutting, tools))

    return extend


def _is_media(part: object) -> bool:
    is_blob = isinstance(part, Resource) and part.text is None
    return is_blob or isinstance(part, Image | Audio)


def _without(outcome: Outcome, media: Sequence[Part]) -> Outcome:
    """An outcome without its media, whose length is no length of text."""
    if not media:
        return outcome
    content = [write_part(each) for each in outcome.parts if each not in media]
    return msgspec.structs.replace(
        outcome, raw=orjson.dumps({**outcome.result, "content": content})
    )
