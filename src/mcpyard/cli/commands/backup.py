"""`mcpyard backup`: the state of a home, or what a cluster shares, in one file."""

import json
from datetime import UTC, datetime
from pathlib import Path

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.cluster_settings import cluster_connection, names_cluster
from mcpyard.cli.output import clean
from mcpyard.store.sqlite.snapshots import Snapshots, examine


def back_up(home: Path, file: Path, cluster_file: Path | None, *, as_json: bool) -> int:
    """Write a backup to a new file, also while mcpyard runs."""
    if file.exists():
        raise usage(f"{file} exists already", "name a new file; mcpyard overwrites no backup")
    if not file.parent.is_dir():
        raise usage(f"the folder {file.parent} does not exist")
    of_cluster = names_cluster(cluster_file)
    if of_cluster:
        from mcpyard.store.postgres.backups import back_up_cluster

        connection = cluster_connection(cluster_file)
        back_up_cluster(connection.connect, file, datetime.now(UTC))
    else:
        Snapshots(home).copy_to(file)
    # A backup that cannot be read is none.
    servers = examine(file)
    source = "cluster" if of_cluster else "home"
    if as_json:
        size = file.stat().st_size
        print(json.dumps({"file": str(file), "of": source, "servers": servers, "size": size}))
    else:
        of = "of the cluster" if of_cluster else f"of {clean(str(home))}"
        print(f"backed up the state {of} to {clean(str(file))} ({servers} servers of the user)")
    return 0
