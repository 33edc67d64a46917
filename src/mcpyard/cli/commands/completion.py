"""`mcpyard completion`: the words of the command and the names of servers, in the shell."""

import contextlib
import json
import os
from pathlib import Path
from typing import Final, cast

import typer

_ASKED: Final = "_MCPYARD_COMPLETE"
"""The variable by which the script of a shell asks for words."""


def ready_completion() -> None:
    """Make the command answer a shell that asks for words."""
    if _ASKED in os.environ:
        from typer.completion import get_completion_inspect_parameters

        # It is this that teaches it the shells.
        get_completion_inspect_parameters()


def print_script(context: typer.Context, shell: str) -> int:
    """Print the script for a shell to read."""
    from typer.completion import show_callback

    with contextlib.suppress(SystemExit):
        show_callback(context, context.command.params[0], shell)
    return 0


def complete_name(context: typer.Context, incomplete: str) -> list[str]:
    """The names of servers that begin so; none where they cannot be had at once."""
    from mcpyard.cli.commands.paths import home_folder

    given = context.params.get("home")
    home = home_folder(given if isinstance(given, Path) else None)
    try:
        names = _names(home)
    except Exception:  # noqa: BLE001  a key that is pressed must never answer with an error
        names = []
    return [each for each in names if each.startswith(incomplete)]


def _names(home: Path) -> list[str]:
    from mcpyard.cli.remote import find_yard

    if yard := find_yard(home, patience=0):
        records = cast("list[dict[str, str]]", json.loads(yard.get("/api/mcp/servers?tools=0")))
        return [each["name"] for each in records]
    from mcpyard.cli.known_servers import find_known

    return sorted(find_known(home, None).servers)
