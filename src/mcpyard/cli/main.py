"""The `mcpyard` command.

Nothing heavy is imported here: `--version` and `--help` answer at once. A command imports what it
needs when it runs.
"""

import sys
from typing import Annotated

import typer

from mcpyard import __version__
from mcpyard.cli.commands.completion import ready_completion
from mcpyard.cli.groups import (
    access_commands,
    client_commands,
    run_commands,
    server_commands,
    system_commands,
    tool_commands,
)
from mcpyard.cli.help_text import RootGroup
from mcpyard.cli.standard_streams import drop_unwritten, ready_streams

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


def run(arguments: list[str] | None = None) -> None:
    """The entry point of the command."""
    ready_streams()
    ready_completion()
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = app(words, prog_name="mcpyard", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 1
    except Exception as error:  # noqa: BLE001  unexpected errors are raised again
        from mcpyard.cli.cli_errors import complain

        # After -- comes the command of a server, with options of its own.
        ours = words[: words.index("--")] if "--" in words else words
        code = complain(error, as_json="--json" in ours)
    drop_unwritten()
    sys.exit(code)
