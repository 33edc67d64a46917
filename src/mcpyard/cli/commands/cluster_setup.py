"""`mcpyard cluster init`, `cert`, `export` and `rotate-key`: what needs no running node."""

import asyncio
import contextlib
import json
import os
import secrets
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.cluster_settings import (
    KEY_VARIABLE,
    OLDER_KEY_VARIABLE,
    cluster_dsn,
    cluster_key,
    older_cluster_key,
)
from mcpyard.cli.daemon.node_settings import check_node_name
from mcpyard.cli.output import clean, table
from mcpyard.mesh.certificates import make_authority, make_certificate
from mcpyard.store.home import Home

SetupAction = Literal["init", "cert", "export", "rotate-key"]

_NO_OLDER_KEY: Final = f"{OLDER_KEY_VARIABLE} is not set"


class SetupOptions(Struct, frozen=True):
    """Where things are: this home, the address of the database, certificates, other homes."""

    home: Path
    cluster_file: Path | None
    out: Path
    import_home: Path | None
    export_home: Path | None

    @property
    def authority(self) -> Path:
        """The folder of the certificate authority, whose key never leaves it."""
        return self.home / "cluster-ca"


def set_up(
    action: SetupAction, names: Sequence[str], options: SetupOptions, *, as_json: bool
) -> int:
    """Create the tables of a cluster, make certificates, or copy a cluster to a home."""
    match action:
        case "init":
            return _init(options, as_json=as_json)
        case "cert":
            return _certificates(names, options, as_json=as_json)
        case "export":
            return _export(options, as_json=as_json)
        case "rotate-key":
            return _rotate_key(options, as_json=as_json)


def _init(options: SetupOptions, *, as_json: bool) -> int:
    from mcpyard.store.postgres.setup import init

    if options.import_home:
        _check_home(options.import_home)
    chosen_key = os.environ.get(KEY_VARIABLE, "").strip()
    key = chosen_key or secrets.token_urlsafe(32)
    made = init(cluster_dsn(options.cluster_file), key)
    record: dict[str, Any] = {
        "cluster": str(made.cluster),
        "made": made.made,
        "migrated": made.migrated,
    }
    # The key is shown once, and also when the rest fails: it opens every secret of the cluster.
    if not chosen_key and made.made:
        record["key"] = key
    if not as_json:
        print(
            "created the tables of the cluster" if made.made else "the tables of the cluster exist"
        )
    try:
        make_authority(options.authority)
        if not as_json:
            print(f"the certificate authority is in {clean(str(options.authority))}")
        if options.import_home:
            record["copied"] = asyncio.run(_import(options, options.import_home, key))
    finally:
        _print_made(record, as_json=as_json)
    return 0


def _print_made(record: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(record))
        return
    if "copied" in record:
        _print_counts(record["copied"])
    if "key" in record:
        print(f"set this on every node; it is not shown again:\n{KEY_VARIABLE}={record['key']}")


def _check_home(folder: Path) -> None:
    # Taking a folder that is none would make it one, with nothing in it to copy.
    if not (folder / "state.db").exists():
        raise usage(
            f"--from: {clean(str(folder))} is not a home of mcpyard",
            "name a folder with a state.db; `mcpyard paths` shows the default one",
        )


async def _import(options: SetupOptions, folder: Path, key: str) -> dict[str, int]:
    from mcpyard.store.postgres.copying import import_home
    from mcpyard.store.postgres.store import SharedStore

    with _taken(folder):
        dsn, keys = cluster_dsn(options.cluster_file), (key, older_cluster_key())
        store = await SharedStore.open(dsn, *keys)
        try:
            return dict(await import_home(folder, store))
        finally:
            await store.close()


@contextlib.contextmanager
def _taken(folder: Path) -> Generator[None]:
    """Keep every daemon out of a home for the block."""
    holder = Home(folder)
    holder.take()
    try:
        yield
    finally:
        holder.release()


def _export(options: SetupOptions, *, as_json: bool) -> int:
    if options.export_home is None:
        raise usage("cluster export needs --to HOME", "name a folder that does not exist yet")
    counts = asyncio.run(_copy_out(options, options.export_home))
    if as_json:
        print(json.dumps({"home": str(options.export_home), "copied": counts}))
        return 0
    _print_counts(counts)
    print(f"use it: mcpyard up --home {clean(str(options.export_home))}")
    return 0


async def _copy_out(options: SetupOptions, folder: Path) -> dict[str, int]:
    from mcpyard.store.postgres.copying import export_home
    from mcpyard.store.postgres.store import SharedStore

    keys = cluster_key(), older_cluster_key()
    store = await SharedStore.open(cluster_dsn(options.cluster_file), *keys)
    try:
        with _taken(folder):
            return dict(await export_home(store, folder))
    finally:
        await store.close()


def _print_counts(counts: dict[str, int]) -> None:
    if counts:
        table(("COPIED", "ROWS"), [(name, str(count)) for name, count in counts.items()], "")


def _rotate_key(options: SetupOptions, *, as_json: bool) -> int:
    from mcpyard.store.postgres.key_rotation import rotate_key

    key, older = cluster_key(), older_cluster_key()
    if not older or older == key:
        raise usage(
            f"{OLDER_KEY_VARIABLE} is not the key before" if older else _NO_OLDER_KEY,
            f"set {KEY_VARIABLE} to the new key and {OLDER_KEY_VARIABLE} to the one before",
        )
    rotated = rotate_key(cluster_dsn(options.cluster_file), key, older)
    if as_json:
        print(json.dumps({"sealed": rotated.sealed, "unreadable": [*rotated.unreadable]}))
        return 0
    print(f"the cluster has the new key; sign-ins and secrets sealed with it: {rotated.sealed}")
    for name in rotated.unreadable:
        print(f"sealed with a third key, sign in or set it again: {clean(name)}")
    print(f"restart the nodes one after another without {OLDER_KEY_VARIABLE}")
    return 0


def _certificates(names: Sequence[str], options: SetupOptions, *, as_json: bool) -> int:
    if not names:
        raise usage("cluster cert needs the names of nodes", "for example: cluster cert n1 n2 n3")
    for each in names:
        check_node_name("cluster cert", each)
    written = [make_certificate(options.authority, each, options.out) for each in names]
    if as_json:
        print(
            json.dumps(
                [
                    {"node": name, "certificate": str(files.certificate), "key": str(files.key)}
                    for name, files in zip(names, written, strict=True)
                ]
            )
        )
        return 0
    for files in written:
        print(f"{clean(str(files.certificate))} {clean(str(files.key))}")
    print(f"each node also needs {clean(str(written[0].authority))}")
    return 0
