"""What a scripted model says, turn by turn, and what it was told of its calls."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

FINAL = "That is all."


class Refused(Exception):
    """The service refuses the request, in its own words."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model makes; `arguments` is JSON, which a model may get wrong."""

    name: str
    arguments: str = "{}"

    @property
    def parsed(self) -> dict[str, Any]:
        return json.loads(self.arguments)


Turn = list[Call]


@dataclass
class Script:
    """The turns of a model, and everything that it heard: tools, and results by call."""

    turns: list[Turn]
    tools: list[dict[str, Any]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    requests: int = 0

    def __post_init__(self) -> None:
        self._left: Iterator[Turn] = iter(self.turns)

    def next(self) -> Turn:
        """The calls of the next turn; none when it is done."""
        self.requests += 1
        return next(self._left, [])

    @property
    def heard(self) -> str:
        """All results as JSON."""
        return json.dumps(self.results)


def require(condition: object, message: str) -> None:
    """Refuse the request unless a condition holds."""
    if not condition:
        raise Refused(message)


def only(members: dict[str, Any], *names: str) -> None:
    """Refuse members that the service does not know."""
    for name in members:
        require(name in names, f"Unknown parameter: '{name}'")
