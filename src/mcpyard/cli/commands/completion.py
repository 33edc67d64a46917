"""`mcpyard completion`: commands, options and names of servers, completed by the shell."""

import contextlib
import os
from pathlib import Path
from typing import Final

import typer

_VARIABLE: Final = "_MCPYARD_COMPLETE"
"""Set by the script of a shell that asks for completions."""


def ready_completion() -> None:
    """Prepare for a shell that asks for completions."""
    if _VARIABLE in os.environ:
        from typer.completion import get_completion_inspect_parameters

        # This registers the shells.
        get_completion_inspect_parameters()


def print_script(context: typer.Context, shell: str) -> int:
    """Print the script for a shell to read."""
    from typer.completion import show_callback

    with contextlib.suppress(SystemExit):
        show_callback(context, context.command.params[0], shell)
    return 0


def complete_name(context: typer.Context, incomplete: str) -> list[str]:
    """The names of servers with that beginning; none if they are not available at once."""
    from mcpyard.cli.home_files import home_folder

    folder = context.params.get("home")
    home = home_folder(folder if isinstance(folder, Path) else None)
    try:
        names = _names(home)
    except Exception:  # noqa: BLE001  the Tab key must never print an error
        names = []
    return [each for each in names if each.startswith(incomplete)]


def _names(home: Path) -> list[str]:
    from mcpyard.cli.printing import decode_objects
    from mcpyard.client.discovery import find_yard

    if yard := find_yard(home, timeout=0):
        records = decode_objects(yard.get("/api/mcp/servers?tools=0"))
        return [each["name"] for each in records]
    from mcpyard.cli.known_servers import find_known

    return sorted(find_known(home, None).servers)
