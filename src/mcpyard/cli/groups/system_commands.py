"""The commands about this machine."""

from typing import Annotated, Literal

import typer

from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import HomeOption, JsonOption, ProjectOption, YesOption

app = typer.Typer()
_system = Group(app, "System")


@_system.command(examples="mcpyard doctor\nmcpyard doctor --project .")
def doctor(
    project: ProjectOption = None, home: HomeOption = None, as_json: JsonOption = False
) -> int:
    """Check this machine and the definitions for problems."""
    from mcpyard.cli.commands.doctor import examine

    return examine(home_folder(home), project, as_json=as_json)


@_system.command(
    examples="mcpyard restore\nmcpyard restore 2026-11-16\nmcpyard restore ~/state.db --yes"
)
def restore(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="A backup: its name, its day or its path; default: list them."
        ),
    ] = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the backups of the state, or restore one."""
    from mcpyard.cli.commands.restore import list_snapshots, restore_snapshot

    folder = home_folder(home)
    if file is None:
        return list_snapshots(folder, as_json=as_json)
    return restore_snapshot(folder, file, yes=yes, as_json=as_json)


@_system.command(examples="mcpyard service install --project ~/my-app\nmcpyard service status")
def service(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["install", "uninstall", "status"],
        typer.Argument(
            metavar="{install|uninstall|status}",
            help="Install and start the service, remove it, or show its status.",
        ),
    ],
    project: ProjectOption = None,
    port: Annotated[
        int, typer.Option(metavar="N", min=1, max=65535, help="Port to listen on.")
    ] = 8712,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print the unit instead of installing it.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run mcpyard as a systemd user service."""
    from mcpyard.cli.commands.service import ServiceOptions, manage_service

    options = ServiceOptions(home_folder(home).absolute(), port, project)
    return manage_service(action, options, only_print=only_print, as_json=as_json)


@_system.command(examples="source <(mcpyard completion bash)\nmcpyard completion fish | source")
def completion(
    context: typer.Context,
    shell: Annotated[
        Literal["bash", "zsh", "fish"],
        typer.Argument(metavar="{bash|zsh|fish}", help="The shell."),
    ],
) -> int:
    """Print the completion script for a shell."""
    from mcpyard.cli.commands.completion import print_script

    return print_script(context, shell)


@_system.command(examples="mcpyard paths")
def paths(home: HomeOption = None, as_json: JsonOption = False) -> int:
    """Show where mcpyard keeps its files."""
    from mcpyard.cli.commands.paths import show_paths

    return show_paths(home_folder(home), as_json=as_json)
