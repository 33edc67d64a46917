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
_Unverified = Annotated[
    bool,
    typer.Option("--unverified", help="Write to a client that is known from documentation only."),
]


@_clients.command(
    examples="mcpyard clients ls codex\nmcpyard clients show claude:project files\n"
    "mcpyard clients disable codex files\nmcpyard clients rename gemini files documents\n"
    "mcpyard clients edit codex files --env LOG=debug --dry-run\nmcpyard clients rm cursor files"
)
def clients(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "show", "lint", "drift", "seen", "edit", "enable", "disable", "rename", "rm"],
        typer.Argument(
            metavar="[ACTION]",
            help="ls (list), show, lint (check the files), drift (compare definitions), seen "
            "(at the gateway), edit, enable, disable, rename or rm.",
        ),
    ] = "ls",
    client: Annotated[
        str | None, typer.Argument(metavar="[CLIENT[:SCOPE]]", help="Such as claude:project.")
    ] = None,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Name of a server.")] = None,
    new_name: Annotated[
        str | None, typer.Argument(metavar="[NEW]", help="For rename, the new name.")
    ] = None,
    json_text: Annotated[
        str | None,
        typer.Option(
            "--json-text", metavar="JSON", help="For edit: JSON merge patch; - reads stdin."
        ),
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", metavar="PROGRAM", help="For edit: the program.")
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg", metavar="ARG", help="For edit: argument; repeatable, replaces all arguments."
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="For edit: the URL.")
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            metavar="NAME=VALUE",
            help="For edit: environment variable; repeatable, empty removes it.",
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            "--header",
            metavar="'NAME: VALUE'",
            help="For edit: HTTP header; repeatable, empty removes it.",
        ),
    ] = None,
    dry_run: DryRunOption = False,
    unverified: _Unverified = False,
    show_secrets: _ShowSecrets = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show and change the servers of every MCP client on this machine."""
    from mcpyard.cli.commands.clients import EntryEdit, change_client, show_clients

    words = tuple(each for each in (client, name, new_name) if each is not None)
    edit = EntryEdit(json_text, command, arg or (), url, env or (), header or ())
    if action in {"ls", "show", "lint", "drift", "seen"}:
        edit.refuse_for(action)
        return show_clients(home_folder(home), project, action, words, as_json=as_json)
    return change_client(
        *(home_folder(home), project, action, words, edit),
        dry_run=dry_run,
        unverified=unverified,
        show_secrets=show_secrets,
        as_json=as_json,
    )


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
    unverified: _Unverified = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Add the gateway to the configuration of an MCP client."""
    from mcpyard.cli.commands.connect import ConnectRequest, connect_client

    request = ConnectRequest(client, scope, name, profile, http, dry_run, unverified)
    return connect_client(home_folder(home), project, request, as_json=as_json)


@_clients.command(examples="mcpyard disconnect codex\nmcpyard disconnect claude:project --dry-run")
def disconnect(  # noqa: PLR0913, PLR0917  one parameter an option
    client: Annotated[
        str, typer.Argument(metavar="CLIENT[:SCOPE]", help="Such as codex, or claude:project.")
    ],
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="SCOPE", help="Scope of the client.")
    ] = None,
    dry_run: DryRunOption = False,
    unverified: _Unverified = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Remove the gateway from the configuration of an MCP client."""
    from mcpyard.cli.commands.connect import DisconnectRequest, disconnect_client

    request = DisconnectRequest(client, scope, dry_run, unverified)
    return disconnect_client(home_folder(home), project, request, as_json=as_json)


@_clients.command(
    examples="mcpyard copy --from claude --to codex files\n"
    "mcpyard copy --from claude --to codex,gemini,opencode files docs\n"
    "mcpyard copy --from yard --to cursor --all --dry-run"
)
def copy(  # noqa: PLR0913, PLR0917  one parameter an option
    source: Annotated[
        str, typer.Option("--from", metavar="CLIENT[:SCOPE]", help="Client to copy from.")
    ],
    target: Annotated[
        str,
        typer.Option(
            "--to", metavar="CLIENT[:SCOPE],...", help="Clients to copy to, separated by commas."
        ),
    ],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Names of the servers.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Copy all servers.")] = False,
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
    unverified: _Unverified = False,
    show_secrets: _ShowSecrets = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Copy servers from one MCP client to others."""
    from mcpyard.cli.commands.copy import CopyRequest, copy_servers

    targets = [each.strip() for each in target.split(",") if each.strip()]
    request = CopyRequest(
        source,
        targets,
        names or (),
        everything,
        new_name,
        matrix,
        replace,
        move,
        dry_run,
        unverified,
    )
    return copy_servers(
        home_folder(home), project, request, show_secrets=show_secrets, as_json=as_json
    )


@_clients.command(
    examples="mcpyard sync --to claude,codex,gemini,opencode\nmcpyard sync apply\n"
    "mcpyard sync adopt --to claude\nmcpyard sync --check"
)
def sync(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["plan", "apply", "adopt", "approve"],
        typer.Argument(
            metavar="[plan|apply|adopt|approve]",
            help="Show the plan, apply it, take what clients have into the source, or approve the "
            "mcpyard.toml of a project.",
        ),
    ] = "plan",
    target: Annotated[
        str,
        typer.Option(
            "--to", metavar="CLIENT[:SCOPE],...", help="Clients; default: those of mcpyard.toml."
        ),
    ] = "",
    check: Annotated[
        bool, typer.Option("--check", help="Compare only; exit code 1 if something differs.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask; conflicts are left as they are.")
    ] = False,
    dry_run: DryRunOption = False,
    unverified: _Unverified = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Keep one set of servers in several MCP clients."""
    from mcpyard.cli.commands.sync import SyncOptions
    from mcpyard.cli.commands.sync import sync as run_sync

    targets = [each.strip() for each in target.split(",") if each.strip()]
    options = SyncOptions(
        home_folder(home), project, targets, yes, dry_run, check, as_json, unverified
    )
    return run_sync(action, options)


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
