"""A tool as an agent gets it: what it is for, what it takes, and a call that never raises."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import orjson

from mcpyard.catalog.token_estimate import estimate_tokens
from mcpyard.yard.calls.context import Progress
from mcpyard.yard.calls.outcome import Outcome

OWN: Final = "own"
"""The origin of the application's own tools."""

Schema: TypeAlias = Mapping[str, object]

Calling: TypeAlias = Callable[
    [Mapping[str, object] | None, float | None, Progress | None], Awaitable[Outcome]
]
"""Carries a call out: arguments, time limit in seconds, who hears of progress."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, of a server or of the application itself.

    Attributes:
        name: What the agent calls it.
        description: What it does.
        input_schema: The schema of its arguments.
        calling: Carries a call out.
        title: What to call it before people.
        output_schema: The schema of its structured result, where it has one.
        annotations: Hints about it, as its server gives them; not to be trusted.
        origin: The name of its server, or `own`.
        native: What its server calls it.
        stale: Whether it is cached: its server is not connected, or does not respond.
    """

    name: str
    description: str
    input_schema: Schema
    calling: Calling = field(repr=False, compare=False)
    title: str | None = None
    output_schema: Schema | None = None
    annotations: Schema = field(default_factory=dict[str, object])
    origin: str = OWN
    native: str = ""
    stale: bool = False

    @property
    def tokens(self) -> int:
        """How much of a model's context its definition takes, roughly."""
        schema = orjson.dumps(self.input_schema, default=str).decode()
        return estimate_tokens(f"{self.name}{self.description}{schema}")

    async def call(
        self,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call the tool; whatever goes wrong is an error outcome, and the conversation goes on."""
        return await self.calling(arguments, timeout, progress)
