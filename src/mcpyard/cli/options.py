"""The options that several commands share."""

from pathlib import Path
from typing import Annotated, Final

import typer

from mcpyard.cli.commands.completion import complete_name
from mcpyard.cli.folders import check_cluster_file, check_home, check_project

SCOPES: Final = "project|user"

HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        envvar="MCPYARD_HOME",
        callback=check_home,
        help="Folder of all state.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="DIR",
        callback=check_project,
        help="Folder with the .mcp.json to use; the first use implies approval.",
    ),
]
NameArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name or id of the server.", autocompletion=complete_name),
]
NamesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", help="Names or ids of the servers.", autocompletion=complete_name
    ),
]
WaitOption = Annotated[
    float,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        max=600,
        help="Time to wait until the server is ready.",
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Preview only; change nothing.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
ClusterOption = Annotated[
    Path | None,
    typer.Option(
        "--cluster",
        metavar="FILE",
        callback=check_cluster_file,
        help="File with the address of the database; default: MCPYARD_CLUSTER.",
    ),
]
NodeOption = Annotated[
    str | None,
    typer.Option("--node", metavar="NAME", help="Join a cluster as the node of this name."),
]
NodeListenOption = Annotated[
    str | None,
    typer.Option(
        "--node-listen", metavar="HOST:PORT", help="Address to listen on for other nodes."
    ),
]
NodeAddressOption = Annotated[
    str | None,
    typer.Option(
        "--node-address",
        metavar="HOST:PORT",
        help="Address that other nodes reach this one at; default: --node-listen.",
    ),
]
NodeCertsOption = Annotated[
    Path | None,
    typer.Option("--node-certs", metavar="DIR", file_okay=False, help="Certificates of the node."),
]
LabelOption = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="NAME=VALUE", help="Label of the node; repeatable."),
]
CapacityOption = Annotated[
    int | None,
    typer.Option(
        "--capacity", metavar="N", min=1, max=1_000_000, help="Servers that the node takes."
    ),
]
NodeTtlOption = Annotated[
    float | None,
    typer.Option(
        "--node-ttl", metavar="SECONDS", help="Silence after which other nodes take over."
    ),
]
