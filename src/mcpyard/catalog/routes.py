"""Where a call of a tool goes: the server, the tool, and whether its arguments fit."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from msgspec import Struct, field

from mcpyard.domain.model import UNCHANGED, ToolPolicy
from mcpyard.domain.tool import ToolDefinition

if TYPE_CHECKING:
    from mcpyard.catalog.validators import Validator


class FallbackRoute(Struct, frozen=True):
    """A tool of another server that can answer in a tool's place.

    Arguments are those that it calls otherwise; None leaves one out.
    """

    server: str
    tool: str
    arguments: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])

    def translate(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """The arguments as the fallback wants them."""
        names = {name: self.arguments.get(name, name) for name in arguments}
        return {names[name] or name: value for name, value in arguments.items() if names[name]}


def fallbacks_of(
    tool: str, policy: ToolPolicy, servers: Iterable[str]
) -> tuple[FallbackRoute, ...]:
    """The fallbacks of a tool: its own where it names any, else its server's."""
    if policy.fallback is None:
        return tuple(FallbackRoute(name, tool) for name in servers)
    return tuple(
        FallbackRoute(each.server, each.tool or tool, each.arguments) for each in policy.fallback
    )


def is_repeatable(hints: Mapping[str, object]) -> bool:
    """Whether a tool's own annotations say that calling it twice does no harm."""
    return hints.get("readOnlyHint") is True or hints.get("idempotentHint") is True


class Route:
    """The way to one tool.

    The validator is compiled at the first call, and what compiles it is loaded then: a server may
    have thousands of tools that nobody calls.
    """

    __slots__ = ("_validator", "exposed", "fallbacks", "policy", "server", "server_name", "tool")

    def __init__(  # noqa: PLR0913  one a part of the way
        self,
        server: UUID,
        server_name: str,
        tool: ToolDefinition,
        exposed: str,
        policy: ToolPolicy = UNCHANGED,
        *,
        fallbacks: tuple[FallbackRoute, ...] = (),
    ) -> None:
        self.server = server
        self.server_name = server_name
        self.tool = tool
        self.exposed = exposed
        self.policy = policy
        self.fallbacks = fallbacks
        self._validator: Validator | None = None

    @property
    def description(self) -> str:
        """What the tool does: in the user's words, else in the server's."""
        changed = self.policy.description
        return self.tool.description if changed is None else changed

    @property
    def repeatable(self) -> bool:
        """Whether a call may be repeated when nobody knows what became of the first."""
        repeatable = self.policy.repeatable
        return is_repeatable(self.tool.annotations) if repeatable is None else repeatable

    @property
    def validator(self) -> "Validator":
        """Tells whether arguments fit the tool."""
        if self._validator is None:
            from mcpyard.catalog.validators import compile_validator  # noqa: PLC0415  see above

            self._validator = compile_validator(self.tool.input_schema)
        return self._validator
