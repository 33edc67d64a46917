"""What must survive, in one JSON file that is replaced as a whole.

A change is written a moment later, in a thread, so that a hundred servers that come up together
cost one write and no call waits for the disk. A file that cannot be read is put aside, never
overwritten: everything in it can be found out again, but somebody may want to look.
"""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import orjson

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import StorageFull
from mcpyard.domain.model import Scope, Transport
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import Reached
from mcpyard.store.files import write_private
from mcpyard.store.memory import VolatileMemory

log = logging.getLogger(__name__)

VERSION: Final = 1
_DELAY: Final = 0.2


class FileMemory(VolatileMemory):
    """A memory that outlives its program."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._timer: asyncio.TimerHandle | None = None
        self._writing: asyncio.Task[None] | None = None
        self._load()

    async def close(self) -> None:
        """Write what is not written yet."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
            self._writing = asyncio.create_task(self._write())
        if self._writing:
            await self._writing

    def _changed(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._due)

    def _due(self) -> None:
        if self._writing and not self._writing.done():
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._due)
            return
        self._timer = None
        self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        content = orjson.dumps(self._dump(), option=orjson.OPT_INDENT_2)
        try:
            await asyncio.to_thread(write_private, self._path, content)
        except StorageFull as error:
            log.error("%s", error)  # noqa: TRY400  the message says it all

    def _dump(self) -> dict[str, object]:
        return {
            "version": VERSION,
            "identities": [
                [str(owner.scope), owner.place, name, str(identity)]
                for (owner, name), identity in self._identities.items()
            ],
            "names": [[str(server), tool, name] for (server, tool), name in self._names.items()],
            "tools": {str(server): tools for server, tools in self._tools.items()},
            "reached": {
                digest: [each.era, each.transport] for digest, each in self._reached.items()
            },
        }

    def _load(self) -> None:
        try:
            self._restore(orjson.loads(self._path.read_bytes()))
        except FileNotFoundError:
            return
        except (OSError, ValueError, KeyError, TypeError) as error:
            aside = self._path.with_suffix(".unreadable")
            log.warning("%s cannot be used (%s); put aside as %s", self._path, error, aside)
            self._path.replace(aside)

    def _restore(self, kept: Mapping[str, Any]) -> None:
        if kept["version"] != VERSION:
            raise ValueError(f"version {kept['version']}")
        self._identities = {
            (Owner(Scope(scope), place), name): UUID(identity)
            for scope, place, name, identity in kept["identities"]
        }
        self._names = {(UUID(server), tool): name for server, tool, name in kept["names"]}
        self._tools = {UUID(server): tools for server, tools in kept["tools"].items()}
        self._reached = {
            digest: Reached(Era(era), Transport(transport) if transport else None)
            for digest, (era, transport) in kept["reached"].items()
        }
