"""The commands of `mcpyard`.

Nothing heavy is imported here: `--version` and `--help` answer at once. A command imports what it
needs when it runs.
"""

from typing import Annotated

import typer

from mcpyard import __version__
from mcpyard.cli.groups import (
    access_commands,
    client_commands,
    cluster_commands,
    run_commands,
    server_commands,
    system_commands,
    tool_commands,
)
from mcpyard.cli.help_text import RootGroup

app = typer.Typer(
    name="mcpyard",
    cls=RootGroup,
    help="Run, watch and share all your MCP servers from one place.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _group in (
    run_commands,
    server_commands,
    tool_commands,
    client_commands,
    access_commands,
    cluster_commands,
    system_commands,
):
    app.add_typer(_group.app)


def _show_version(value: bool) -> None:
    if value:
        print(f"mcpyard {__version__}")
        raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Take the options that come before a command."""
