"""What programs make of their files, kept while the files stay as they are."""

import asyncio
from collections.abc import Mapping

from mcpyard.domain.files import FileText
from mcpyard.formats.effective import Evaluation, files_of, judge
from mcpyard.formats.facts import Client
from mcpyard.formats.included import included_files
from mcpyard.formats.locations import ClientFolders
from mcpyard.formats.registry import ClientRegistry
from mcpyard.yard.clients.transaction import EditTransaction
from mcpyard.yard.clients.workspace import same_texts
from mcpyard.yard.clients.yard_scope import YARD

_Texts = Mapping[str, FileText]


class ClientEvaluations:
    """The evaluations of all programs.

    Attributes:
        programs: All of them, without mcpyard itself.
    """

    def __init__(self, registry: ClientRegistry, transaction: EditTransaction) -> None:
        self.programs = tuple(client for client in registry.clients if client.id != YARD)
        self._transaction = transaction
        self._evaluated: dict[str, tuple[ClientFolders, _Texts, Evaluation]] = {}

    async def of_all(self, around: ClientFolders) -> list[Evaluation]:
        """What each program makes of its files."""
        return [await self.of(client, around) for client in self.programs]

    async def texts(self, client: Client, around: ClientFolders, *, fresh: bool = False) -> _Texts:
        """The files of a program, with those that they refer to."""
        texts = await self._transaction.texts(files_of(client, around), fresh=fresh)
        included = included_files(client, around, texts)
        return {**texts, **await self._transaction.texts(included, fresh=fresh)}

    async def of(self, client: Client, around: ClientFolders) -> Evaluation:
        """What one program makes of its files."""
        texts = await self.texts(client, around)
        cached = self._evaluated.get(client.id)
        if cached and cached[0] == around and same_texts(cached[1], texts):
            return cached[2]
        evaluation = await asyncio.to_thread(judge, client, around, texts)
        self._evaluated[client.id] = around, texts, evaluation
        return evaluation
