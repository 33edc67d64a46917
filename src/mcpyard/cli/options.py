"""The options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from mcpyard.cli.commands.completion import complete_name
from mcpyard.cli.folders import check_home, check_project

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home", envvar="MCPYARD_HOME", callback=check_home, help="Where all state lives."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        callback=check_project,
        help="The folder whose .mcp.json is meant; naming it allows to run it.",
    ),
]
NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The server's name or id.", autocompletion=complete_name),
]
NamesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", help="The servers' names or ids.", autocompletion=complete_name
    ),
]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait", metavar="SECONDS", min=0, max=600, help="How long to wait for it to get there."
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what would be.")]
