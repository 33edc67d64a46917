"""The commands about the servers of other programs, with their options.

As light as `main`: a command imports what it needs when it runs.
"""

from typing import Annotated, Literal

import typer

from mcpyard.cli.options import DryRunOption, HomeOption, JsonOption, ProjectOption

app = typer.Typer()

_ShowSecrets = Annotated[
    bool, typer.Option("--show-secrets", help="Mask nothing; where no yard runs.")
]


@app.command()
def clients(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "show", "lint", "drift"],
        typer.Argument(metavar="[ACTION]", help="ls, show, lint or drift."),
    ] = "ls",
    client: Annotated[
        str | None, typer.Argument(metavar="[CLIENT]", help="Such as claude or claude:project.")
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="A server of it.")] = None,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the servers of every program on this machine, and what becomes of each."""
    from mcpyard.cli.commands.clients import look_at_clients
    from mcpyard.cli.commands.paths import home_folder

    words = tuple(each for each in (client, name) if each is not None)
    return look_at_clients(home_folder(home), project, action, words, as_json=as_json)


@app.command()
def copy(  # noqa: PLR0913, PLR0917  one parameter an option
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the server is called.")],
    source: Annotated[str, typer.Option("--from", metavar="CLIENT[:SCOPE]", help="Where it is.")],
    target: Annotated[
        str, typer.Option("--to", metavar="CLIENT[:SCOPE]", help="Where it is to be.")
    ],
    new_name: Annotated[
        str | None, typer.Option("--name", metavar="NEW", help="What the copy is called.")
    ] = None,
    matrix: Annotated[
        Literal["native", "spec"], typer.Option("--matrix", help="The table to follow.")
    ] = "native",
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of one of its name.")
    ] = False,
    move: Annotated[bool, typer.Option("--move", help="Take it away from where it is.")] = False,
    dry_run: DryRunOption = False,
    show_secrets: _ShowSecrets = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Copy a server from one program to another, and show what changed."""
    from mcpyard.cli.commands.copy import CopyRequest, copy_server
    from mcpyard.cli.commands.paths import home_folder

    wish = CopyRequest(source, target, name, new_name, matrix, replace, move, dry_run, show_secrets)
    return copy_server(home_folder(home), project, wish, as_json=as_json)


@app.command()
def undo(  # noqa: PLR0913, PLR0917  one parameter an option
    number: Annotated[
        int | None, typer.Argument(metavar="[ID]", min=1, help="An edit; the newest unless told.")
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the last edits instead, newest first.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Stop running servers without asking.")
    ] = False,
    dry_run: DryRunOption = False,
    show_secrets: _ShowSecrets = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Undo an edit of a program's file or of the yard's own servers."""
    from mcpyard.cli.commands.copy import Undoing, list_edits, undo_edit
    from mcpyard.cli.commands.paths import home_folder

    if listed:
        return list_edits(home_folder(home), as_json=as_json)
    wish = Undoing(number, dry_run, show_secrets, yes)
    return undo_edit(home_folder(home), wish, as_json=as_json)
