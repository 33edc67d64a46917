"""Fixes of failing servers: which there are, and what each needs."""

from collections.abc import Awaitable, Callable, Collection
from typing import TypeAlias

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.fixes import Fix, FixKind, fixes_of, similar_commands
from mcpyard.domain.observed import Observed
from mcpyard.yard.secrets import SecretBook

Commands: TypeAlias = Callable[[], Awaitable[Collection[str]]]
"""Lists the commands that servers can be started with."""


async def no_commands() -> Collection[str]:
    """Of a yard that starts nothing."""
    return ()


class ServerFixes:
    """What can be done about servers."""

    def __init__(self, secrets: SecretBook, commands: Commands) -> None:
        self._secrets = secrets
        self._commands = commands

    def of(self, server: DesiredServer, observed: Observed) -> tuple[Fix, ...]:
        """What can be done about a server; nothing about one that runs."""
        cause = observed.state.cause
        code = cause.code if cause else None
        fixes = fixes_of(server, code, self._secrets.names)
        if self._secrets.available:
            return fixes
        return tuple(each for each in fixes if each.kind is FixKind.USE_COMMAND)

    async def similar_commands(self, command: str) -> list[str]:
        """The commands that one may have been meant to be, the most similar first."""
        return similar_commands(command, await self._commands())
