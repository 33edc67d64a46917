"""Edits of mcpyard's own servers that an interface makes: journalled, so that they can be undone.

Of the documents that are made up only the servers that the edit is about are stored: the way back
leaves all others as they are.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcpyard.domain.files import FileText, FileWrite
from mcpyard.domain.model import Scope
from mcpyard.yard.clients.transaction import EditTransaction
from mcpyard.yard.clients.yard_scope import PROJECT_DOCUMENT, USER_DOCUMENT, OwnServers
from mcpyard.yard.clients.yard_scope_documents import document, policy_of, whole_of
from mcpyard.yard.clients.yard_scope_snapshot import OwnPicture
from mcpyard.yard.edit_note import EditNote


@dataclass(frozen=True, slots=True)
class _State:
    picture: OwnPicture
    project: FileText | None


class OwnEdits:
    """Journals edits of mcpyard's own servers."""

    def __init__(self, own: OwnServers, transaction: EditTransaction) -> None:
        self._own = own
        self._transaction = transaction
        self._one_at_a_time = asyncio.Lock()

    @asynccontextmanager
    async def noting(self, note: EditNote, names: Collection[str]) -> AsyncGenerator[None]:
        """Journal what happens to the servers of these names inside the block as one edit."""
        async with self._one_at_a_time:
            before = await self._state()
            try:
                yield
            finally:
                writes = _writes(before, await self._state(), names)
                note.number = await self._transaction.note(writes, note.kind, note.who)

    async def _state(self) -> _State:
        project: FileText | None = None
        if self._own.project:
            path = self._own.path(Scope.PROJECT)
            project = (await self._transaction.texts([path], fresh=True))[path]
        return _State(self._own.picture(), project)


def _writes(before: _State, after: _State, names: Collection[str]) -> list[FileWrite]:
    writes: list[FileWrite] = []
    if before.project and after.project and before.project.text != after.project.text:
        path = before.project.path
        writes.append(FileWrite(path, before.project.text, after.project.text))
    policies = (_policies(each.picture, names) for each in (before, after))
    writes.append(FileWrite(PROJECT_DOCUMENT, *policies))
    users = (_document(each.picture, names) for each in (before, after))
    writes.append(FileWrite(USER_DOCUMENT, *users))
    return [each for each in writes if each.before != each.after]


def _document(picture: OwnPicture, names: Collection[str]) -> str:
    servers = picture.servers(Scope.USER)
    return document({name: whole_of(servers[name]) for name in names if name in servers})


def _policies(picture: OwnPicture, names: Collection[str]) -> str:
    servers = picture.servers(Scope.PROJECT)
    policies: dict[str, Mapping[str, object]] = {
        name: policy_of(whole_of(servers[name])) for name in names if name in servers
    }
    return document({name: each for name, each in policies.items() if each})
