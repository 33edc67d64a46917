"""The commands that run mcpyard."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import (
    CapacityOption,
    ClusterOption,
    HomeOption,
    JsonOption,
    LabelOption,
    NodeAddressOption,
    NodeCertsOption,
    NodeListenOption,
    NodeOption,
    NodeTtlOption,
    ProjectOption,
)
from mcpyard.cli.quick_up import DEFAULT_HOST, DEFAULT_PORT

app = typer.Typer()
_run = Group(app, "Run")


@_run.command(
    examples="mcpyard up --open\n"
    "mcpyard up --project ~/my-app\n"
    "mcpyard up --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem"
)
def up(  # noqa: PLR0913, PLR0917  one parameter an option
    project: ProjectOption = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the web page in a browser, signed in.")
    ] = False,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = DEFAULT_HOST,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 for any free one.")
    ] = DEFAULT_PORT,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a line.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Skip entries without transport or args.")
    ] = False,
    trust_folder: Annotated[
        bool,
        typer.Option("--trust-folder", help="Apply edits of the project file without approval."),
    ] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="Keep the clients of mcpyard.toml in sync.")
    ] = False,
    _review: Annotated[bool, typer.Option("--review", hidden=True)] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Accept this host name; repeatable."),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            "--tls-cert", metavar="FILE", exists=True, dir_okay=False, help="TLS certificate."
        ),
    ] = None,
    tls_key: Annotated[
        Path | None,
        typer.Option(
            "--tls-key", metavar="FILE", exists=True, dir_okay=False, help="Key of the certificate."
        ),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Allow other machines without TLS.")
    ] = False,
    idle_exit: Annotated[
        str | None,
        typer.Option(
            "--idle-exit", metavar="TIME", help="Exit after this time without requests, as in 10m."
        ),
    ] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        typer.Option(
            "--log-level", metavar="LEVEL", help="debug, info, warning or error, for the log file."
        ),
    ] = "info",
    node: NodeOption = None,
    node_listen: NodeListenOption = None,
    node_address: NodeAddressOption = None,
    node_certs: NodeCertsOption = None,
    cluster: ClusterOption = None,
    label: LabelOption = None,
    capacity: CapacityOption = None,
    node_ttl: NodeTtlOption = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Take the place of a node of this name that is gone."),
    ] = False,
    substitute: Annotated[bool, typer.Option("--substitute", hidden=True)] = False,
    parent_pipe: Annotated[bool, typer.Option("--parent-pipe", hidden=True)] = False,
) -> int:
    """Run mcpyard in the foreground: servers, gateway and web page.

    Press Ctrl-C to stop it.
    """
    from mcpyard.cli.commands.up import start

    return start(
        project=project,
        open_page=open_page,
        host=host,
        port=port,
        home=home,
        as_json=as_json,
        strict=strict,
        trust_folder=trust_folder,
        sync=sync,
        allow_host=allow_host,
        tls_cert=tls_cert,
        tls_key=tls_key,
        insecure=insecure,
        idle_exit=idle_exit,
        log_level=log_level,
        substitute=substitute,
        parent_pipe=parent_pipe,
        node=node,
        node_listen=node_listen,
        node_address=node_address,
        node_certs=node_certs,
        cluster=cluster,
        label=label,
        capacity=capacity,
        node_ttl=node_ttl,
        replace=replace,
    )


@_run.command(examples="mcpyard status\nmcpyard status --json")
def status(home: HomeOption = None, as_json: JsonOption = False) -> int:
    """Show whether mcpyard is running, and a summary of its servers.

    Exits with 4 if it is not running.
    """
    from mcpyard.cli.commands.status import show_status

    return show_status(home_folder(home), as_json=as_json)


@_run.command("open", examples="mcpyard open\nmcpyard open --no-browser")
def open_(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the link.")
    ] = True,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Open the web page in a browser, signed in by a one-time link.

    The link is printed too. It works once, within ten minutes.
    """
    from mcpyard.cli.commands.open import open_page

    return open_page(home_folder(home), browser=browser, as_json=as_json)


@_run.command("login-link", hidden=True, examples="mcpyard login-link")
def login_link(home: HomeOption = None, as_json: JsonOption = False) -> int:
    """Print a one-time sign-in link, as `open --no-browser` does."""
    from mcpyard.cli.commands.open import open_page

    return open_page(home_folder(home), browser=False, as_json=as_json)


@_run.command(examples="mcpyard stdio\nmcpyard stdio --profile work")
def stdio(
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Expose only this profile."),
    ] = None,
    home: HomeOption = None,
) -> int:
    """Run the gateway as a stdio MCP server (starts mcpyard if needed)."""
    from mcpyard.cli.stdio import bridge

    return bridge(home_folder(home), profile)
