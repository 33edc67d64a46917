"""The editor of mcpyard's own servers, with a note of each edit that an interface makes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Final, Protocol

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem, YardError
from mcpyard.yard.edit import Change, ServerEditor
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.registration import Registered

_REACHING: Final = "mcpyard.yard.clients.reaching"
"""What knows the formats of all clients; imported in a thread, it holds up nobody."""


class EditJournal(Protocol):
    """Where edits of mcpyard's own servers are journalled."""

    def noting(self, note: EditNote, names: Collection[str]) -> AbstractAsyncContextManager[None]:
        """Journal what happens to the servers of these names inside the block."""
        ...


class NotedEditor:
    """Edits servers; what comes with a note can be undone.

    Attributes:
        plain: The editor itself, for edits that are journalled elsewhere.
    """

    def __init__(self, editor: ServerEditor, journal: Callable[[], EditJournal] | None) -> None:
        self.plain = editor
        self._journal = journal

    async def register(
        self, body: Mapping[str, object], note: EditNote | None = None
    ) -> Registered:
        """Add a server (see `ServerEditor.register`)."""
        (outcome,) = await self.register_all([body], note)
        if isinstance(outcome, YardError):
            raise outcome
        return outcome

    async def register_all(
        self, bodies: Sequence[Mapping[str, object]], note: EditNote | None = None
    ) -> list[Registered | YardError]:
        """Add servers in one edit (see `ServerEditor.register_all`)."""
        names = [str(each.get("name", "")) for each in bodies]
        async with self._noted(note, names):
            return await self.plain.register_all(bodies)

    async def change(self, server: DesiredServer, change: Change) -> list[Problem]:
        """Change a server (see `ServerEditor.change`)."""
        names = {server.name, str(change.patch.get("name", server.name))}
        async with self._noted(change.note, names):
            return await self.plain.change(server, change)

    async def remove_all(
        self, servers: Collection[DesiredServer], note: EditNote | None = None
    ) -> None:
        """Take servers out in one edit (see `ServerEditor.remove_all`)."""
        async with self._noted(note, {each.name for each in servers}):
            await self.plain.remove_all(servers)

    @asynccontextmanager
    async def _noted(self, note: EditNote | None, names: Collection[str]) -> AsyncGenerator[None]:
        if note is None or self._journal is None:
            yield
            return
        await asyncio.to_thread(import_module, _REACHING)
        async with self._journal().noting(note, names):
            yield
