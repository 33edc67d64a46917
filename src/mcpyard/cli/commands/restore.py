"""`mcpyard restore`: the backups of the state, and the way back to one of them."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from mcpyard.cli.cli_errors import EXIT_FAILED, usage
from mcpyard.cli.cluster_settings import (
    ADDRESS_VARIABLE,
    cluster_connection,
    names_cluster,
)
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import JsonObject
from mcpyard.domain.errors import YardBusy, YardError
from mcpyard.store.home import Home
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sqlite.snapshots import (
    FOLDER,
    Snapshot,
    Snapshots,
    examine,
    is_of_cluster,
    newest,
    unreadable_sign_ins,
)


def list_snapshots(home: Path, *, as_json: bool) -> int:
    """Print the backups, newest first."""
    snapshots = Snapshots(home).all()
    records = [_record(each) for each in snapshots]
    if as_json:
        print(json.dumps(records))
        return 0
    rows = [
        (
            clean(str(each["name"])),
            str(each["at"]),
            str(each["size"]),
            str(each["servers"]) if each["problem"] is None else clean(str(each["problem"])),
        )
        for each in records
    ]
    table(("BACKUP", "WHEN", "BYTES", "SERVERS"), rows, f"no backups in {clean(str(home))}")
    if rows:
        sound = [
            snapshot
            for snapshot, record in zip(snapshots, records, strict=True)
            if record["problem"] is None
        ]
        name = newest(sound or snapshots, datetime.now(UTC)).path.name
        print(f"restore one: mcpyard restore {clean(name)}", file=sys.stderr)
    return 0


def restore_backup(
    home: Path, name: str, cluster_file: Path | None, *, yes: bool, as_json: bool
) -> int:
    """Put a backup in place of the state of the home, or of the cluster that it is of."""
    source = Snapshots(home).find(name)
    if source is None:
        raise usage(f'there is no backup "{name[:200]}"', "list the backups: mcpyard restore")
    if is_of_cluster(source):
        restored = _restore_cluster(home, source, cluster_file, yes=yes)
    else:
        restored = _restore_home(home, source, yes=yes)
    if restored is None:
        print("nothing restored", file=sys.stderr)
        return EXIT_FAILED
    if as_json:
        print(json.dumps(restored))
        return 0
    print(f"restored {_described(source, restored['servers'])}")
    if restored["replaced"]:
        print(f"the replaced state is in {clean(str(restored['replaced']))}")
    if restored["unreadable"]:
        print(f"sealed with another key, sign in again: {clean(', '.join(restored['unreadable']))}")
    return 0


def _restore_home(home: Path, source: Path, *, yes: bool) -> JsonObject | None:
    holder = Home(home)
    # Nobody may write the state meanwhile: this is refused while mcpyard runs.
    holder.take()
    try:
        servers = examine(source)
        if not yes and not confirm(f"The state is replaced by {_described(source, servers)}"):
            return None
        replaced = Snapshots(home).restore(source, datetime.now(UTC))
        unreadable = unreadable_sign_ins(source, Seal(home / "key"))
    finally:
        holder.release()
    return _report(source, servers, replaced, unreadable)


def _restore_cluster(
    home: Path, source: Path, cluster_file: Path | None, *, yes: bool
) -> JsonObject | None:
    if not names_cluster(cluster_file):
        raise usage(
            f"{source} is the backup of a cluster and {ADDRESS_VARIABLE} is not set",
            "set it, or use --cluster, and make the tables first: mcpyard cluster init",
        )
    from mcpyard.store.postgres import backups

    cluster, now, servers = cluster_connection(cluster_file), datetime.now(UTC), examine(source)
    snapshot = backups.read_backup(source, cluster.seal)
    if running := backups.running_nodes(cluster.connect):
        names = ", ".join(running)
        raise YardBusy(f"nodes of the cluster are running: {names}; stop them first")
    if not yes and not confirm(f"The cluster is replaced by {_described(source, servers)}"):
        return None
    replaced = home / FOLDER / f"cluster-replaced-{now:%Y%m%dT%H%M%S%f}.db"
    replaced.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    backups.back_up_cluster(cluster.connect, replaced, now)
    backups.restore_cluster(cluster.connect, snapshot, cluster.seal)
    return _report(source, servers, replaced, [])


def _described(source: Path, servers: int) -> str:
    return f"{clean(str(source))} ({servers} servers of the user)"


def _report(source: Path, servers: int, replaced: Path | None, unreadable: list[str]) -> JsonObject:
    return {
        "restored": str(source),
        "servers": servers,
        "replaced": str(replaced) if replaced else None,
        "unreadable": unreadable,
    }


def _record(snapshot: Snapshot) -> dict[str, object]:
    record: dict[str, object] = {
        "name": snapshot.path.name,
        "at": snapshot.at.isoformat(timespec="seconds"),
        "size": snapshot.size,
    }
    try:
        return record | {"servers": examine(snapshot.path), "problem": None}
    except YardError as error:
        return record | {"servers": None, "problem": error.message}
