"""From the SQLite of a home to the database of a cluster, and back.

Copied is what a cluster shares, all of it in one transaction, and only into an empty place. The
rows are counted on the other side before they are committed.
"""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import ClusterRefused
from mcpyard.store.postgres.shared_tables import (
    SharedTables,
    count_shared,
    read_shared,
    replace_shared,
    resealed,
)
from mcpyard.store.postgres.snapshot import read_snapshot
from mcpyard.store.postgres.store import SharedStore
from mcpyard.store.sql.engine import SqlConnection
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sqlite.database import DatabaseKind
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.schema import STATE
from mcpyard.store.sqlite.store import Store

_STATE: Final = DatabaseKind(STATE, "FULL", is_state=True)
_EMPTY: Final = ("definitions", "profiles", "tokens", "credentials", "secrets")


async def import_home(folder: Path, store: SharedStore) -> Mapping[str, int]:
    """Copy what the home in a folder has to share into a cluster; how many rows of each table.

    No other program may use the home meanwhile.

    Raises:
        ClusterRefused: The cluster has servers, tokens, profiles, sign-ins or secrets already.
        StoreAway: The database cannot be reached; nothing was changed.
    """
    home = await Engine.open(folder / "state.db", _STATE)
    try:
        tables = await home.read(read_shared)
    finally:
        await home.close()
    # The home may have a key of its own; MCPYARD_KEY is the cluster's by now. A home takes that
    # as it is, and a cluster without the blanks around it.
    seals = [Seal(folder / "key", environment=False)] if (folder / "key").exists() else []
    tables = await asyncio.to_thread(resealed, tables, [*seals, store.seal, Seal()], store.seal)
    counts = await store.engine.run(_writer(tables, "The cluster is in use already"))
    await store.follower.reload()
    return counts


async def export_home(store: SharedStore, folder: Path) -> Mapping[str, int]:
    """Copy what a cluster shares into the home in a folder; how many rows of each table.

    Raises:
        ClusterRefused: The home has servers, tokens, profiles, sign-ins or secrets already.
        StoreAway: The database cannot be reached; nothing was changed.
    """
    tables = (await asyncio.to_thread(read_snapshot, store.connect)).tables
    made = await Store.open(folder)
    await made.close()
    tables = await asyncio.to_thread(resealed, tables, [store.seal], Seal(folder / "key"))
    home = await Engine.open(folder / "state.db", _STATE)
    try:
        return await home.run(_writer(tables, "The home is in use already"))
    finally:
        await home.close()


def _writer(tables: SharedTables, refusal: str) -> Callable[[SqlConnection], dict[str, int]]:
    def job(connection: SqlConnection) -> dict[str, int]:
        if any(count_shared(connection, table) for table in _EMPTY):
            raise ClusterRefused(refusal).advising("Copy into a new one.")
        return replace_shared(connection, tables)

    return job
