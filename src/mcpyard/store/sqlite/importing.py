"""Taking over what a yard without a database kept in its `memory.json`.

Done once, and safe to be done twice: what the database knows already stays as it is.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson

from mcpyard.domain.model import Scope, Transport
from mcpyard.domain.observed import Era
from mcpyard.store.sqlite.codec import digest
from mcpyard.store.sqlite.engine import Engine, Job

log = logging.getLogger(__name__)

VERSION: Final = 1


async def import_json(engine: Engine, path: Path) -> bool:
    """Read a memory's file into the database, and put the file aside; whether there was one.

    A file that cannot be used is put aside as well: everything in it can be found out again.
    """
    try:
        content = await asyncio.to_thread(path.read_bytes)
        job = _writer(orjson.loads(content))
    except FileNotFoundError:
        return False
    except (OSError, ValueError, KeyError, TypeError) as error:
        aside = path.with_name(f"{path.name}.unreadable")
        log.warning("%s cannot be used (%s); put aside as %s", path, error, aside)
        await asyncio.to_thread(path.replace, aside)
        return False
    await engine.run(job)
    await asyncio.to_thread(path.replace, path.with_name(f"{path.name}.imported"))
    return True


def _writer(kept: Mapping[str, Any]) -> Job[None]:
    """The job that writes a file's content; made only when all of it can be used."""
    if kept["version"] != VERSION:
        raise ValueError(f"version {kept['version']}")
    identities = [
        (Scope(scope), str(place), str(name), str(UUID(identity)))
        for scope, place, name, identity in kept["identities"]
    ]
    names = [(str(UUID(server)), str(tool), str(name)) for server, tool, name in kept["names"]]
    dumped = [(str(UUID(server)), orjson.dumps(tools)) for server, tools in kept["tools"].items()]
    tools = [(server, content, digest(content)) for server, content in dumped]
    reached = [
        (launch, Era(era), Transport(transport) if transport else None)
        for launch, (era, transport) in kept["reached"].items()
    ]

    def job(connection: sqlite3.Connection) -> None:
        for statement, rows in (
            (
                "INSERT OR IGNORE INTO identities (scope, place, name, id) VALUES (?,?,?,?)",
                identities,
            ),
            ("INSERT OR IGNORE INTO exposed_names (server, tool, name) VALUES (?, ?, ?)", names),
            ("INSERT OR IGNORE INTO tools (server, tools, digest) VALUES (?, ?, ?)", tools),
            ("INSERT OR IGNORE INTO reached (launch, era, transport) VALUES (?, ?, ?)", reached),
        ):
            connection.executemany(statement, rows)

    return job
