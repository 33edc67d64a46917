"""The commands about other MCP clients and their files."""

from typing import Annotated, Literal

import typer

from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import DryRunOption, HomeOption, JsonOption, ProjectOption, YesOption

app = typer.Typer()
_clients = Group(app, "Clients")

_ShowSecrets = Annotated[
    bool,
    typer.Option("--show-secrets", help="Do not mask secrets; only while mcpyard is not running."),
]


@_clients.command(
    examples="mcpyard clients\nmcpyard clients show claude:project files\nmcpyard clients lint"
)
def clients(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "show", "lint", "drift"],
        typer.Argument(
            metavar="[ls|show|lint|drift]",
            help="List, show one, check the files, or compare definitions.",
        ),
    ] = "ls",
    client: Annotated[
        str | None,
        typer.Argument(metavar="[CLIENT[:SCOPE]]", help="For show, such as claude:project."),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="For show, the name of a server.")
    ] = None,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the servers of every MCP client on this machine."""
    from mcpyard.cli.commands.clients import show_clients

    words = tuple(each for each in (client, name) if each is not None)
    return show_clients(home_folder(home), project, action, words, as_json=as_json)


@_clients.command(examples="mcpyard connect codex\nmcpyard connect claude --profile work --dry-run")
def connect(  # noqa: PLR0913, PLR0917  one parameter an option
    client: Annotated[
        str, typer.Argument(metavar="CLIENT[:SCOPE]", help="Such as codex, or claude:project.")
    ],
    profile: Annotated[
        str | None, typer.Option("--profile", metavar="NAME", help="Expose only this profile.")
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Use the URL with a new call token, not a command.")
    ] = False,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="SCOPE", help="Scope of the client.")
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="Name of the entry.")
    ] = "mcpyard",
    dry_run: DryRunOption = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Add the gateway to the configuration of an MCP client."""
    from mcpyard.cli.commands.connect import ConnectRequest, connect_client

    request = ConnectRequest(client, scope, name, profile, http, dry_run)
    return connect_client(home_folder(home), project, request, as_json=as_json)


@_clients.command(
    examples="mcpyard copy --from claude --to codex files\n"
    "mcpyard copy --from cursor --to yard docs --dry-run"
)
def copy(  # noqa: PLR0913, PLR0917  one parameter an option
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the server.")],
    source: Annotated[
        str, typer.Option("--from", metavar="CLIENT[:SCOPE]", help="Client to copy from.")
    ],
    target: Annotated[
        str, typer.Option("--to", metavar="CLIENT[:SCOPE]", help="Client to copy to.")
    ],
    new_name: Annotated[
        str | None, typer.Option("--name", metavar="NEW", help="Name of the copy.")
    ] = None,
    matrix: Annotated[
        Literal["native", "spec"],
        typer.Option(
            "--matrix",
            metavar="native|spec",
            help="Field mapping: full, or the basic one of the specification.",
        ),
    ] = "native",
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an entry of the same name.")
    ] = False,
    move: Annotated[bool, typer.Option("--move", help="Remove the original.")] = False,
    dry_run: DryRunOption = False,
    show_secrets: _ShowSecrets = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Copy a server from one MCP client to another."""
    from mcpyard.cli.commands.copy import copy_server

    request = {
        "from": source,
        "to": target,
        "name": name,
        "newName": new_name,
        "matrix": matrix,
        "replace": replace,
        "move": move,
        "dryRun": dry_run,
    }
    return copy_server(
        home_folder(home), project, request, show_secrets=show_secrets, as_json=as_json
    )


@_clients.command(examples="mcpyard undo\nmcpyard undo --list\nmcpyard undo 12 --dry-run")
def undo(  # noqa: PLR0913, PLR0917  one parameter an option
    number: Annotated[
        int | None,
        typer.Argument(metavar="[ID]", min=1, help="Id of the edit; default: the newest."),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the last edits, newest first.")
    ] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    show_secrets: _ShowSecrets = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Undo a copy, a connect, an import or another edit."""
    from mcpyard.cli.commands.undo import UndoRequest, list_edits, undo_edit

    if listed:
        return list_edits(home_folder(home), as_json=as_json)
    request = UndoRequest(number, dry_run, show_secrets, yes)
    return undo_edit(home_folder(home), request, as_json=as_json)
