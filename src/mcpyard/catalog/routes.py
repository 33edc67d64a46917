"""Where a call of a tool goes: the server, the tool, and whether its arguments fit."""

from uuid import UUID

from mcpyard.catalog.validators import Validator, compile_validator
from mcpyard.domain.model import ToolPolicy
from mcpyard.domain.tool import ToolDefinition

_UNCHANGED = ToolPolicy()


class Route:
    """The way to one tool.

    The validator is compiled at the first call: a server may have thousands of tools that nobody
    calls.
    """

    __slots__ = ("_validator", "exposed", "policy", "server", "server_name", "tool")

    def __init__(
        self,
        server: UUID,
        server_name: str,
        tool: ToolDefinition,
        exposed: str,
        policy: ToolPolicy = _UNCHANGED,
    ) -> None:
        self.server = server
        self.server_name = server_name
        self.tool = tool
        self.exposed = exposed
        self.policy = policy
        self._validator: Validator | None = None

    @property
    def description(self) -> str:
        """What the tool does: in the user's words, else in the server's."""
        changed = self.policy.description
        return self.tool.description if changed is None else changed

    @property
    def validator(self) -> Validator:
        """Tells whether arguments fit the tool."""
        if self._validator is None:
            self._validator = compile_validator(self.tool.input_schema)
        return self._validator
