"""What can be done about a failing server with one action, beyond signing in and approving."""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from mcpyard.domain.cause import Code
from mcpyard.domain.definition.launch import Unlaunchable
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.model import LocalConfig, Scope

_MOST_DIFFERENT: Final = 3
"""Characters that a similar command may be longer or shorter."""

_SIMILAR: Final = 0.7
_MOST: Final = 5
_LONGEST: Final = 60


class FixKind(StrEnum):
    """Kinds of fixes."""

    SET_VARIABLE = "variable"
    ALLOW = "allow"
    USE_COMMAND = "command"


class Fix(Struct, frozen=True):
    """A fix, and the variable or the command that it is about."""

    kind: FixKind
    name: str


def fixes_of(server: DesiredServer, code: Code | None, stored: Collection[str]) -> tuple[Fix, ...]:
    """What can be done about a server.

    Args:
        server: The server.
        code: Why it is not connected.
        stored: The names of the stored secrets; one that a server does not find needs consent.
    """
    if isinstance(server.launch, Unlaunchable):
        in_project = server.owner.scope is Scope.PROJECT
        return tuple(
            Fix(
                FixKind.ALLOW if in_project and name in stored else FixKind.SET_VARIABLE,
                name,
            )
            for name in server.launch.missing
            if not name.startswith("keyring:")
        )
    editable = server.owner.scope in {Scope.PROJECT, Scope.USER}
    if code is Code.COMMAND_MISSING and editable and isinstance(server.config, LocalConfig):
        program = server.config.program
        # A path says where the program is, and a line is more than one; only a name is looked for.
        if not any(each in program for each in "/$ "):
            return (Fix(FixKind.USE_COMMAND, program),)
    return ()


def similar_commands(command: str, commands: Iterable[str]) -> list[str]:
    """The commands that one may have been meant to be, the most similar first."""
    import difflib  # noqa: PLC0415  for a dialog that few ever open

    near = {
        each
        for each in commands
        if abs(len(each) - len(command)) <= _MOST_DIFFERENT and len(each) <= _LONGEST
    }
    return difflib.get_close_matches(command[:_LONGEST], sorted(near - {command}), _MOST, _SIMILAR)
