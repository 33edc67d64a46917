"""A tool for an agent: description, schemas, and a call that never raises."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import orjson

from mcpyard.catalog.token_estimate import estimate_tokens
from mcpyard.domain.errors import Disconnected
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.event_loop import YardLoop, wait_anywhere
from mcpyard.yard.toolbox.failures import failure

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
        loop: The event loop that blocking calls run on; None for one of their own.
        unasked: The tool without the question for approval, for a library that asks itself; None
            if its calls need no approval, or mcpyard asks.
        cleared: Whether an approval policy says that nobody else has to be asked.
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
    loop: YardLoop | None = field(default=None, repr=False, compare=False)
    unasked: "Tool | None" = field(default=None, repr=False, compare=False)
    cleared: bool = False

    @property
    def needs_approval(self) -> bool:
        """Whether its calls need approval by the mechanism of the agent library."""
        return self.unasked is not None

    @property
    def approved(self) -> "Tool":
        """The tool as a library calls it that has asked for approval."""
        return self.unasked or self

    @property
    def tokens(self) -> int:
        """An estimate of the tokens that its definition takes in a model's context."""
        schema = orjson.dumps(self.input_schema, default=str).decode()
        return estimate_tokens(f"{self.name}{self.description}{schema}")

    @property
    def metadata(self) -> dict[str, object]:
        """What a library can hold about it besides: server, title, annotations, `stale`."""
        return {
            "server": self.origin,
            "title": self.title,
            "annotations": dict(self.annotations),
            "stale": self.stale,
        }

    async def call(
        self,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call the tool; a failure is an error outcome and never raises."""
        return await self.calling(arguments, timeout, progress)

    def call_sync(
        self,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Call the tool and block until it is done (see `Toolbox.call_sync`)."""
        call = self.call(arguments, timeout=timeout, progress=progress)
        try:
            return wait_anywhere(self.loop, call)
        except Disconnected as error:
            return failure(error, self.origin, self.native)
