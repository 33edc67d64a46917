"""The commands about more than one machine."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import (
    CapacityOption,
    ClusterOption,
    DryRunOption,
    HomeOption,
    JsonOption,
    NodeTtlOption,
    YesOption,
)
from mcpyard.cli.quick_up import DEFAULT_PORT

app = typer.Typer()
_cluster = Group(app, "Cluster")


@_cluster.command(
    examples="mcpyard cluster init\nmcpyard cluster cert n1 n2 n3 --out certs\n"
    "mcpyard cluster status --servers\nmcpyard cluster drain n1 --dry-run\n"
    "mcpyard cluster move files n2\n"
    "mcpyard cluster export --to ~/one-machine"
)
def cluster(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal[
            "init",
            "cert",
            "rotate-key",
            "export",
            "status",
            "drain",
            "forget",
            "move",
            "rebalance",
            "ray",
        ],
        typer.Argument(
            metavar="[ACTION]",
            help="init (create the tables and the CA), cert (make certificates of nodes), "
            "rotate-key (change MCPYARD_KEY), export (copy to a home), status, drain, forget, "
            "move, rebalance or ray (run a node on each machine of a Ray cluster).",
        ),
    ] = "status",
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]",
            help="Names of nodes; for move, a server and a node; for ray, up or down.",
        ),
    ] = None,
    cluster_file: ClusterOption = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="For cert: where to write the files.")
    ] = Path("certs"),
    import_home: Annotated[
        Path | None,
        typer.Option("--from", metavar="HOME", help="For init: copy the servers of this home."),
    ] = None,
    export_home: Annotated[
        Path | None, typer.Option("--to", metavar="HOME", help="For export: a new home.")
    ] = None,
    servers: Annotated[
        bool, typer.Option("--servers", help="For status: show where each server runs, and why.")
    ] = False,
    events: Annotated[
        bool, typer.Option("--events", help="For status: show what happened last.")
    ] = False,
    dry_run: DryRunOption = False,
    ray_address: Annotated[
        str,
        typer.Option(
            "--ray-address", metavar="HOST:PORT", help="For ray: its head; default: RAY_ADDRESS."
        ),
    ] = "auto",
    port: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=65535, help="For ray: port for clients and the page."),
    ] = DEFAULT_PORT,
    node_port: Annotated[
        int,
        typer.Option("--node-port", metavar="N", min=0, max=65535, help="For ray: port for nodes."),
    ] = 8722,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="For ray: allow other machines without TLS.")
    ] = False,
    capacity: CapacityOption = None,
    node_ttl: NodeTtlOption = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run mcpyard on more than one machine."""
    match action:
        case "init" | "cert" | "export" | "rotate-key":
            from mcpyard.cli.commands.cluster_setup import SetupOptions, set_up

            options = SetupOptions(home_folder(home), cluster_file, out, import_home, export_home)
            return set_up(action, names or (), options, as_json=as_json)
        case "ray":
            from mcpyard.cli.commands.cluster_ray import RayOptions, use_ray

            more = ["--capacity", str(capacity)] if capacity else []
            more += ["--node-ttl", str(node_ttl)] if node_ttl else []
            ray = RayOptions(
                home_folder(home) / "cluster-ca",
                cluster_file,
                ray_address,
                port,
                node_port,
                insecure,
                tuple(more),
            )
            return use_ray(names or (), ray, as_json=as_json)
        case _:
            from mcpyard.cli.commands.cluster import ActionOptions, use_cluster

            choices = ActionOptions(
                servers=servers, events=events, dry_run=dry_run, yes=yes, as_json=as_json
            )
            return use_cluster(action, names or (), home_folder(home), choices)
