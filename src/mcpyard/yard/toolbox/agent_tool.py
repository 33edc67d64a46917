"""A tool for an agent: description, schemas, and a call that never raises."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import orjson

from mcpyard.catalog.token_estimate import estimate_tokens
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome

OWN: Final = "own"
"""The origin of the application's own tools."""

Schema: TypeAlias = Mapping[str, object]

Calling: TypeAlias = Callable[
    [Mapping[str, object] | None, float | None, Progress | None], Awaitable[Outcome]
]
"""Executes a call: arguments, timeout in seconds, progress callback."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a server or of the application.

    Attributes:
        name: The exposed name.
        description: The description for the model.
        input_schema: The JSON schema of its arguments.
        calling: Executes a call.
        title: The display name.
        output_schema: The JSON schema of its structured result, if any.
        annotations: The hints of its server; do not trust them.
        origin: The name of its server, or `own`.
        native: The server's own name for it.
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
        """An estimate of the tokens that its definition takes in a model's context."""
        schema = orjson.dumps(self.input_schema, default=str).decode()
        return estimate_tokens(f"{self.name}{self.description}{schema}")

    async def call(
        self,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call the tool; a failure is an error outcome and never raises."""
        return await self.calling(arguments, timeout, progress)
