"""The `mcpyard` command: its options and the list of its commands.

Nothing heavy is imported here: `--version` and `--help` answer at once. A command imports what it
needs when it runs.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from mcpyard import __version__
from mcpyard.cli.commands.completion import ready_completion
from mcpyard.cli.folders import check_project
from mcpyard.cli.groups import clients as client_commands
from mcpyard.cli.groups import servers as server_commands
from mcpyard.cli.groups import system as service_commands
from mcpyard.cli.options import (
    DryRunOption,
    HomeOption,
    JsonOption,
    NameArgument,
    NamesArgument,
    ProjectOption,
    WaitOption,
)
from mcpyard.cli.streams import drop_unwritten, ready_streams

app = typer.Typer(
    name="mcpyard",
    help="One yard for all your MCP servers.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(server_commands.app)
app.add_typer(client_commands.app)
app.add_typer(service_commands.app)


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
def up(  # noqa: PLR0913, PLR0917  one parameter an option
    project: ProjectOption = None,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 for any free one.")
    ] = 8712,
    home: HomeOption = None,
    as_json: JsonOption = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Skip entries that leave out transport or args.")
    ] = False,
    trust_folder: Annotated[
        bool,
        typer.Option("--trust-folder", help="Apply edits of the project's file without approval."),
    ] = False,
    _review: Annotated[bool, typer.Option("--review", hidden=True)] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A further name of this yard."),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", exists=True, dir_okay=False, help="A certificate.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", exists=True, dir_okay=False, help="Its key.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Listen beyond this machine without TLS.")
    ] = False,
    idle_exit: Annotated[
        str | None,
        typer.Option("--idle-exit", metavar="TIME", help="End when nobody asks for 10m, 1h, 90s."),
    ] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        typer.Option("--log-level", help="The least that the log file tells."),
    ] = "info",
) -> int:
    """Run the yard in the foreground until a signal ends it."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.up import UpOptions, read_duration, run_yard
    from mcpyard.cli.daemon.listening import BindOptions, make_tls

    tls = make_tls(tls_cert, tls_key)
    entrance = BindOptions(host, port, tls, insecure, tuple(allow_host or ()))
    idle = None if idle_exit is None else read_duration("--idle-exit", idle_exit)
    folder = home_folder(home)
    return run_yard(
        UpOptions(folder, entrance, project, strict, trust_folder, as_json, idle, log_level)
    )


@app.command("ls")
def list_(
    home: HomeOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> int:
    """List the servers and how they are."""
    from mcpyard.cli.commands.ls import list_servers
    from mcpyard.cli.commands.paths import home_folder

    return list_servers(home_folder(home), project, as_json=as_json)


@app.command()
def show(
    name: NameArgument,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show one server with everything that is known of it."""
    from mcpyard.cli.commands.ls import show_server
    from mcpyard.cli.commands.paths import home_folder

    return show_server(home_folder(home), project, name, as_json=as_json)


@app.command()
def tools(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The server's name or id.")
    ] = None,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the tools of one server, or of all."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.tools import list_tools

    return list_tools(home_folder(home), project, name, as_json=as_json)


@app.command()
def call(  # noqa: PLR0913, PLR0917  one parameter an option
    tool: Annotated[str, typer.Argument(metavar="EXPOSED_NAME", help="As `tools` lists it.")],
    args: Annotated[str, typer.Option("--args", help="The arguments, a JSON object.")] = "{}",
    timeout: Annotated[
        int | None, typer.Option("--timeout", metavar="MS", help="The limit of the call.")
    ] = None,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Call a tool and print what it answers."""
    from mcpyard.cli.commands.call import ToolCall, call_tool, check_timeout, read_arguments
    from mcpyard.cli.commands.paths import home_folder

    asked = ToolCall(tool, read_arguments(args), check_timeout(timeout))
    return call_tool(home_folder(home), project, asked, as_json=as_json)


@app.command()
def logs(
    name: NameArgument,
    follow: Annotated[bool, typer.Option("--follow", help="Go on as lines come.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what a server wrote to its standard error."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.start_stop_restart import show_log

    return show_log(home_folder(home), name, follow=follow, as_json=as_json)


@app.command()
def start(
    names: NamesArgument,
    wait: WaitOption = 10,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Start servers."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.start_stop_restart import control

    return control(home_folder(home), "start", names, wait, as_json=as_json)


@app.command()
def stop(
    names: NamesArgument,
    wait: WaitOption = 10,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Stop servers."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.start_stop_restart import control

    return control(home_folder(home), "stop", names, wait, as_json=as_json)


@app.command()
def restart(
    names: NamesArgument,
    wait: WaitOption = 10,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Stop servers and start them anew."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.start_stop_restart import control

    return control(home_folder(home), "restart", names, wait, as_json=as_json)


@app.command()
def approve(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]", callback=check_project, help="The project; here unless told."
        ),
    ] = None,
    replace: Annotated[
        list[str] | None,
        typer.Option("--replace", metavar="NAME", help="Let it replace a server of yours."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what a project's .mcp.json would run, and approve it."""
    from mcpyard.cli.commands.approve import approve as approve_folder
    from mcpyard.cli.commands.paths import home_folder

    names = tuple(replace or ())
    where = folder or Path.cwd()
    return approve_folder(home_folder(home), where, names, yes=yes, as_json=as_json)


@app.command()
def stdio(
    profile: Annotated[
        str | None, typer.Option("--profile", help="The selection of servers and tools.")
    ] = None,
    home: HomeOption = None,
) -> int:
    """Speak MCP over the standard streams with the yard, which is started if none runs."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.stdio import bridge

    return bridge(home_folder(home), profile)


@app.command()
def connect(  # noqa: PLR0913, PLR0917  one parameter an option
    client: Annotated[
        str, typer.Argument(metavar="CLIENT", help="Such as codex, or claude:project.")
    ],
    profile: Annotated[
        str | None, typer.Option("--profile", help="The selection of servers and tools.")
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="By the address, with a token of its own.")
    ] = False,
    scope: Annotated[
        str | None, typer.Option("--scope", help="One of the client's scopes.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="What it is called there.")] = "mcpyard",
    dry_run: DryRunOption = False,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the yard's gateway into the configuration of another program."""
    from mcpyard.cli.commands.connect import Connect, connect_client
    from mcpyard.cli.commands.paths import home_folder

    wish = Connect(client, scope, name, profile, http, dry_run)
    return connect_client(home_folder(home), project, wish, as_json=as_json)


@app.command("login-link")
def login_link(home: HomeOption = None, as_json: JsonOption = False) -> int:
    """Print an address that lets one browser in, once."""
    from mcpyard.cli.commands.open import make_login_link
    from mcpyard.cli.commands.paths import home_folder

    return make_login_link(home_folder(home), as_json=as_json)


@app.command()
def token(
    action: Annotated[
        Literal["ls", "create", "revoke", "rotate"],
        typer.Argument(metavar="ACTION", help="ls, create, revoke or rotate."),
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The name of a call token.")
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="The only profile that a new one opens.")
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Make, list and revoke the gateway's tokens; renew the admin token."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.token import TokenAction, manage_tokens

    return manage_tokens(home_folder(home), TokenAction(action), name, profile, as_json=as_json)


@app.command()
def doctor(
    project: ProjectOption = None, home: HomeOption = None, as_json: JsonOption = False
) -> int:
    """Check this machine and the definitions, and say how to fix what is wrong."""
    from mcpyard.cli.commands.doctor import examine
    from mcpyard.cli.commands.paths import home_folder

    return examine(home_folder(home), project, as_json=as_json)


@app.command()
def paths(home: HomeOption = None, as_json: JsonOption = False) -> None:
    """Show where mcpyard keeps its files."""
    from mcpyard.cli.commands.paths import show_paths

    show_paths(home, as_json=as_json)


def run(arguments: list[str] | None = None) -> None:
    """The entry point of the command."""
    ready_streams()
    ready_completion()
    given = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = app(given, prog_name="mcpyard", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 1
    except Exception as error:  # noqa: BLE001  what is not an expected error is raised again
        from mcpyard.cli.cli_errors import complain

        # Behind -- stands the command of a server, whose options are its own.
        ours = given[: given.index("--")] if "--" in given else given
        code = complain(error, as_json="--json" in ours)
    drop_unwritten()
    sys.exit(code)
