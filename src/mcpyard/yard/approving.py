"""What of project files waits for approval, and approving what was shown."""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from mcpyard.domain.definition.approval import ApprovedEntry, admit, digest_of
from mcpyard.domain.desired import Document, Owner, Waiting
from mcpyard.domain.errors import ApprovalOutdated, ArgumentsRefused, Problem
from mcpyard.domain.model import Scope
from mcpyard.domain.source import Source
from mcpyard.yard.intent import Intent
from mcpyard.yard.trust import real_folder
from mcpyard.yard.views.approvals import ApprovedView

ReadProject = Callable[[Path], Document]
"""Reads the file of a folder that is not served; blocks."""


class WaitingFolder(Struct, frozen=True):
    """A folder, and the entries of its file that wait for approval."""

    folder: str
    entries: tuple[Waiting, ...]

    @property
    def digest(self) -> str:
        """Stands for what is shown of the entries; an approval names it."""
        return digest_of(self.entries)


class ProjectApprovals:
    """Shows what waits, and approves it."""

    def __init__(self, sources: Sequence[Source], intent: Intent, read: ReadProject) -> None:
        self._sources = sources
        self._intent = intent
        self._read = read

    def waiting(self) -> list[WaitingFolder]:
        """What waits of the folders that are served."""
        folders = [self._waiting(each.document()) for each in self._projects()]
        return [each for each in folders if each.entries]

    async def waiting_in(self, folder: Path) -> WaitingFolder:
        """What waits of one folder, whether it is served or not.

        Raises:
            DocumentBroken: Its file cannot be read, or does not parse.
        """
        return self._waiting(await self._document(folder))

    async def approve(
        self, folder: Path, digest: str | None = None, replace: Collection[str] = ()
    ) -> ApprovedView:
        """Approve what a folder's file says; what waited is started.

        Args:
            folder: The folder.
            digest: Stands for what was shown; None for whatever waits now.
            replace: The names of entries that may replace a server of another scope.

        Raises:
            ApprovalOutdated: Something else waits than what was shown.
            DocumentBroken: The file cannot be read, or does not parse.
        """
        document = await self._document(folder)
        waiting = self._waiting(document)
        if digest not in {None, waiting.digest}:
            raise ApprovalOutdated(
                f"the file in {waiting.folder} was changed after it was displayed"
            )
        shadowing = {each.definition.name for each in waiting.entries if each.shadows}
        for name in replace:
            if name not in shadowing:
                problem = Problem("replace", f'"{name[:80]}" does not need this approval')
                raise ArgumentsRefused.of(problem)
        approved = {
            each.definition.name: self._entry(document.owner, each, replace)
            for each in waiting.entries
        }
        if approved or not self._intent.trust.serves(document.owner):
            await self._intent.trust.approve(document.owner, approved)
            self._intent.changed()
        still = [each for each in approved if each in shadowing and not approved[each].shadows]
        servers = [each for each in approved if each not in still]
        return ApprovedView(folder=str(folder), servers=servers, waiting=still)

    def _entry(self, owner: Owner, waiting: Waiting, replace: Collection[str]) -> ApprovedEntry:
        name = waiting.definition.name
        before = (self._intent.trust.entries(owner) or {}).get(name)
        shadows = before is not None and before.shadows and not before.gone
        return ApprovedEntry(waiting.definition.config, shadows or name in replace)

    def _waiting(self, document: Document) -> WaitingFolder:
        entries = self._intent.trust.entries(document.owner)
        others = [each.document() for each in self._sources if not _is_project(each)]
        approved = {} if entries is None else {document.owner: entries}
        admission = admit([document, *others], approved)
        return WaitingFolder(str(Path(document.owner.place).parent), admission.waiting)

    async def _document(self, folder: Path) -> Document:
        for source in self._projects():
            if real_folder(Path(source.owner.place).parent) == real_folder(folder):
                return source.document()
        return await asyncio.to_thread(self._read, folder)

    def _projects(self) -> Iterator[Source]:
        return (each for each in self._sources if _is_project(each))


def _is_project(source: Source) -> bool:
    return source.owner.scope is Scope.PROJECT


def no_project(folder: Path) -> Document:
    """What the file of a folder says to a yard that reads no files: nothing."""
    return Document(Owner(Scope.PROJECT, str(folder / ".mcp.json")))
