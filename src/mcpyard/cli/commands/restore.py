"""`mcpyard restore`: the backups of the state, and the way back to one of them."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

from mcpyard.cli.cli_errors import EXIT_FAILED, usage
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, table
from mcpyard.domain.errors import YardError
from mcpyard.store.home import Home
from mcpyard.store.sqlite.snapshots import Snapshot, Snapshots, examine


def list_snapshots(home: Path, *, as_json: bool) -> int:
    """Print the backups, newest first."""
    records = [_record(each) for each in Snapshots(home).all()]
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
        print(f"restore one: mcpyard restore {rows[0][0]}", file=sys.stderr)
    return 0


def restore_snapshot(home: Path, name: str, *, yes: bool, as_json: bool) -> int:
    """Put a backup in place of the state, which is kept beside it."""
    snapshots = Snapshots(home)
    source = snapshots.find(name)
    if source is None:
        raise usage(f'there is no backup "{name[:200]}"', "list the backups: mcpyard restore")
    holder = Home(home)
    # Nobody may write the state meanwhile: this is refused while mcpyard runs.
    holder.take()
    try:
        servers = examine(source)
        described = f"{clean(str(source))} ({servers} servers of the user)"
        if not yes and not confirm(f"The state is replaced by {described}"):
            print("nothing restored", file=sys.stderr)
            return EXIT_FAILED
        replaced = snapshots.restore(source, datetime.now(UTC))
    finally:
        holder.release()
    kept_at = str(replaced) if replaced else None
    if as_json:
        print(json.dumps({"restored": str(source), "servers": servers, "replaced": kept_at}))
    else:
        print(f"restored {described}")
        if kept_at:
            print(f"the replaced state is in {clean(kept_at)}")
    return 0


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
