"""The commands about this machine."""

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
    YesOption,
)

app = typer.Typer()
_system = Group(app, "System")


@_system.command(examples="mcpyard doctor\nmcpyard doctor --project .")
def doctor(
    project: ProjectOption = None, home: HomeOption = None, as_json: JsonOption = False
) -> int:
    """Check this machine and the definitions for problems."""
    from mcpyard.cli.commands.doctor import examine

    return examine(home_folder(home), project, as_json=as_json)


@_system.command(examples="mcpyard backup ~/mcpyard-2026-11-16.db")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file for the backup.")],
    cluster: ClusterOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Write the state to a file, also while mcpyard runs.

    With --cluster or MCPYARD_CLUSTER, what the cluster shares.
    """
    from mcpyard.cli.commands.backup import back_up

    return back_up(home_folder(home), file, cluster, as_json=as_json)


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
    cluster: ClusterOption = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the backups of the state, or restore one."""
    from mcpyard.cli.commands.restore import list_snapshots, restore_backup

    folder = home_folder(home)
    if file is None:
        return list_snapshots(folder, as_json=as_json)
    return restore_backup(folder, file, cluster, yes=yes, as_json=as_json)


@_system.command(
    examples="mcpyard service install --project ~/my-app\nmcpyard service status\n"
    "mcpyard service install --node n1 --node-listen 10.0.0.1:8722 --node-certs certs"
)
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
    node: NodeOption = None,
    node_listen: NodeListenOption = None,
    node_address: NodeAddressOption = None,
    node_certs: NodeCertsOption = None,
    cluster: ClusterOption = None,
    label: LabelOption = None,
    capacity: CapacityOption = None,
    node_ttl: NodeTtlOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run mcpyard as a systemd user service; with --node, as a node of a cluster."""
    from mcpyard.cli.commands.service import ServiceOptions, manage_service
    from mcpyard.cli.daemon.node_settings import read_node

    member = read_node(
        {
            "node": node,
            "node_listen": node_listen,
            "node_address": node_address,
            "node_certs": node_certs,
            "cluster": cluster,
            "label": label,
            "capacity": capacity,
            "node_ttl": node_ttl,
        }
    )
    options = ServiceOptions(home_folder(home).absolute(), port, project, member)
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
