"""The commands about mcpyard's own servers."""

from typing import Annotated, Final, Literal, cast

import typer

from mcpyard.cli.help_text import Command, Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import (
    SCOPES,
    DryRunOption,
    HomeOption,
    JsonOption,
    NameArgument,
    NamesArgument,
    ProjectOption,
    WaitOption,
    YesOption,
)

app = typer.Typer()
_servers = Group(app, "Servers")

_AFTER_DASHES: Final = "mcpyard.after_dashes"


class _DashedCommand(Command):
    """A command that knows how many of its words come after `--`."""

    def parse_args(self, ctx: object, args: list[str]) -> list[str]:
        context = cast("typer.Context", ctx)
        after = args[args.index("--") + 1 :] if "--" in args else []
        context.meta[_AFTER_DASHES] = len(after)
        return super().parse_args(context, args)


def _launch_words(context: typer.Context, words: list[str] | None) -> list[str]:
    """The URL or the command; with `--` the whole command comes after it."""
    launch, after = words or [], cast("int", context.meta[_AFTER_DASHES])
    if 0 < after < len(launch):
        from mcpyard.cli.cli_errors import usage

        hint = f"mcpyard {context.info_name} NAME [OPTIONS] -- COMMAND ARGS..."
        raise usage(f'unexpected "{launch[0][:80]}" before --', hint)
    return launch


_Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[URL | -- COMMAND ARGS...]", help="URL of the server, or its command after --."
    ),
]
_Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME=VALUE", help="Environment variable; repeatable."),
]
_Header = Annotated[
    list[str] | None,
    typer.Option("--header", metavar="'NAME: VALUE'", help="HTTP header; repeatable."),
]
_OAuth = Annotated[
    list[str] | None,
    typer.Option(
        "--oauth",
        metavar="NAME=VALUE",
        help="OAuth client: clientId, clientSecret or metadataUrl; repeatable.",
    ),
]
_Transport = Annotated[
    Literal["stdio", "http", "sse"] | None,
    typer.Option("--transport", metavar="stdio|http|sse", help="Transport; default: detected."),
]
_Cwd = Annotated[
    str | None, typer.Option("--cwd", metavar="DIR", help="Working folder of the command.")
]
_Timeout = Annotated[
    int | None, typer.Option("--timeout", metavar="MS", help="Time limit of a call.")
]
_Scope = Annotated[
    Literal["project", "user"] | None,
    typer.Option(
        "--scope", metavar=SCOPES, help="Scope; default: project if a project is open, else user."
    ),
]


@_servers.command("ls", examples="mcpyard ls\nmcpyard ls --json")
def list_(
    home: HomeOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """List the servers with their status."""
    from mcpyard.cli.commands.ls import list_servers

    return list_servers(home_folder(home), project, as_json=as_json)


@_servers.command(examples="mcpyard show files")
def show(
    name: NameArgument,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one server in detail: status, definition, tools."""
    from mcpyard.cli.commands.show import show_server

    return show_server(home_folder(home), project, name, as_json=as_json)


@_servers.command(
    cls=_DashedCommand,
    examples="mcpyard add time -- uvx mcp-server-time\n"
    "mcpyard add files --env LOG=debug --start -- npx -y @scope/files /data\n"
    "mcpyard add docs https://docs.example/mcp --header 'Authorization: Bearer ${TOKEN}'",
)
def add(  # noqa: PLR0913, PLR0917  one parameter an option
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the new server.")
    ] = None,
    words: _Words = None,
    json_text: Annotated[
        str | None,
        typer.Option("--json-text", metavar="JSON", help="Definition as JSON; - reads stdin."),
    ] = None,
    scope: _Scope = None,
    env: _Env = None,
    header: _Header = None,
    oauth: _OAuth = None,
    transport: _Transport = None,
    cwd: _Cwd = None,
    timeout: _Timeout = None,
    start: Annotated[
        bool | None,
        typer.Option("--start/--no-start", help="Start it; default: only in the project scope."),
    ] = None,
    wait: WaitOption = 0,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Add a server."""
    from mcpyard.cli.commands.add import AddRequest, add_server
    from mcpyard.cli.definition_options import DefinitionOptions

    launch = _launch_words(context, words)
    options = DefinitionOptions(
        launch, env or (), header or (), oauth or (), transport, cwd, timeout
    )
    request = AddRequest(name, json_text, scope, start, wait)
    return add_server(home_folder(home), request, options, as_json=as_json)


@_servers.command(
    cls=_DashedCommand,
    examples="mcpyard edit files --env LOG=debug\n"
    'mcpyard edit files --json-text \'{"health": {"failures": 5}}\'\n'
    "mcpyard edit files -- npx -y @scope/files /other",
)
def edit(  # noqa: PLR0913, PLR0917  one parameter an option
    context: typer.Context,
    name: NameArgument,
    words: _Words = None,
    json_text: Annotated[
        str | None,
        typer.Option(
            "--json-text", metavar="JSON", help="JSON merge patch of any fields; - reads stdin."
        ),
    ] = None,
    command: Annotated[
        str | None, typer.Option("--command", metavar="PROGRAM", help="The program alone.")
    ] = None,
    arg: Annotated[
        list[str] | None,
        typer.Option("--arg", metavar="ARG", help="Argument; repeatable, replaces all arguments."),
    ] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="The URL.")] = None,
    env: _Env = None,
    header: _Header = None,
    oauth: _OAuth = None,
    transport: _Transport = None,
    cwd: _Cwd = None,
    timeout: _Timeout = None,
    new_name: Annotated[str | None, typer.Option("--name", metavar="NEW", help="New name.")] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Whether the server may run.")
    ] = None,
    if_match: Annotated[
        str | None,
        typer.Option(
            "--if-match", metavar="DIGEST", help="Change it only if its record has this digest."
        ),
    ] = None,
    when_running: Annotated[
        Literal["restart", "refuse"],
        typer.Option(
            "--when-running", metavar="restart|refuse", help="If a running server must restart."
        ),
    ] = "restart",
    wait: WaitOption = 0,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Change a server; everything else stays unchanged.

    NAME= with --env or --oauth, and NAME: with --header, removes an entry.
    """
    from mcpyard.cli.commands.edit import EditRequest, edit_server
    from mcpyard.cli.definition_options import DefinitionOptions

    launch = _launch_words(context, words)
    options = DefinitionOptions(
        launch, env or (), header or (), oauth or (), transport, cwd, timeout
    )
    request = EditRequest(
        json_text, command, arg or (), url, new_name, enabled, if_match, when_running, wait
    )
    return edit_server(home_folder(home), name, request, options, as_json=as_json)


@_servers.command(examples="mcpyard rm files\nmcpyard rm files --yes")
def rm(
    name: NameArgument, yes: YesOption = False, home: HomeOption = None, as_json: JsonOption = False
) -> int:
    """Stop a server and remove it."""
    from mcpyard.cli.commands.rm import remove_server

    return remove_server(home_folder(home), name, yes=yes, as_json=as_json)


def _add_control(action: Literal["start", "stop", "restart"], examples: str) -> None:
    def command(
        names: NamesArgument,
        wait: WaitOption = 10,
        home: HomeOption = None,
        as_json: JsonOption = False,
    ) -> int:
        from mcpyard.cli.commands.start_stop_restart import control

        return control(home_folder(home), action, names, wait, as_json=as_json)

    command.__doc__ = f"{action.capitalize()} servers."
    _servers.command(action, examples=examples)(command)


_add_control("start", "mcpyard start files\nmcpyard start files time --wait 60")
_add_control("stop", "mcpyard stop files")
_add_control("restart", "mcpyard restart files")


@_servers.command(
    examples="mcpyard logs files\nmcpyard logs -f --tail 20 files\n"
    "mcpyard logs files --source mcp --level warning"
)
def logs(  # noqa: PLR0913, PLR0917  one parameter an option
    name: NameArgument,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Keep printing new lines.")
    ] = False,
    tail: Annotated[
        int | None,
        typer.Option("--tail", "-n", metavar="N", min=0, help="Only the last N lines."),
    ] = None,
    source: Annotated[
        Literal["all", "stderr", "mcp"],
        typer.Option(
            "--source", metavar="all|stderr|mcp", help="Standard error, log messages, or both."
        ),
    ] = "all",
    level: Annotated[
        str, typer.Option("--level", metavar="LEVEL", help="Least level of log messages.")
    ] = "debug",
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what a server wrote to its standard error, and its log messages."""
    from mcpyard.cli.commands.logs import LogQuery, show_log

    query = LogQuery(source, level, tail)
    return show_log(home_folder(home), name, query, follow=follow, as_json=as_json)


@_servers.command(
    "import", examples="mcpyard import --dry-run\nmcpyard import --start other-servers.json"
)
def import_(  # noqa: PLR0913, PLR0917  one parameter an option
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Configuration file; - reads stdin; default: the clients on this machine.",
        ),
    ] = None,
    start: Annotated[bool, typer.Option("--start", help="Start the imported servers.")] = False,
    dry_run: DryRunOption = False,
    scope: _Scope = None,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Import servers from a file or from your other MCP clients.

    Imported servers are stopped until you start them.
    """
    from mcpyard.cli.commands.import_ import ImportRequest, import_file, import_machine

    request = ImportRequest(home_folder(home), project, scope, dry_run, start, as_json)
    return import_machine(request) if file is None else import_file(file, request)
