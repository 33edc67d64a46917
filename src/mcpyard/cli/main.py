"""The `mcpyard` command: its options and the list of its commands.

Nothing heavy is imported here: `--version` and `--help` answer at once. A command imports what it
needs when it runs.
"""

from pathlib import Path
from typing import Annotated

import typer

from mcpyard import __version__

app = typer.Typer(
    name="mcpyard",
    help="One yard for all your MCP servers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
    """Take the options that stand before a command."""


@app.command()
def paths(
    home: Annotated[
        Path | None, typer.Option(envvar="MCPYARD_HOME", help="Where all state lives.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show where mcpyard keeps its files."""
    from mcpyard.cli.paths import show_paths

    show_paths(home, as_json=as_json)


def run() -> None:
    """The entry point of the command."""
    app()
