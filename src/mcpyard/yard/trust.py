"""The user's word: which servers of a project's file may run, and which wait for approval.

A project's file runs commands, so it needs the user's word once per folder. Naming the folder is
the word; a file that was merely found waits for it. Once trusted, a file's edits apply by
themselves, except in review: then each launch that differs from the one approved under its name
waits again. The first time that a trusted folder is under review, what its file says then counts as
approved with it.

Approvals are kept by folder; those of single launches by the file and the server's name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID

from mcpyard.domain.desired import DesiredServer, Owner
from mcpyard.domain.model import Scope
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import Approvals
from mcpyard.domain.stored import TRUSTED, Approval

_REVIEWED: Final = "reviewed"
"""Stands for a file whose launches are approved one by one."""


@dataclass(frozen=True, slots=True)
class Caution:
    """How careful to be.

    Attributes:
        found: Folders whose file was merely found.
        review: Whether every changed launch waits for approval.
    """

    found: frozenset[Path] = frozenset()
    review: bool = False


class Trusting:
    """Lets everything run: the user's own program says what does."""

    async def begin(self, owners: Iterable[Owner], servers: Iterable[DesiredServer]) -> None:
        """Look at what there is for the first time."""

    def held(self, servers: Iterable[DesiredServer]) -> frozenset[UUID]:
        """The servers that wait."""
        del servers
        return frozenset()

    def serves(self, owner: Owner) -> bool:
        """Whether what is new may be written to this owner without being asked to."""
        del owner
        return True

    async def approve(self, folder: Path, servers: Iterable[DesiredServer]) -> list[str]:
        """Trust a folder, and what its file says now; the names of the servers that waited."""
        del folder, servers
        return []


class Trust(Trusting):
    """Knows what the user approved."""

    def __init__(self, approvals: Approvals, clock: Clock, caution: Caution) -> None:
        self._approvals = approvals
        self._clock = clock
        self._found = {*map(_real, caution.found)}
        self._review = caution.review
        self._folders: dict[str, str] = {}

    async def begin(self, owners: Iterable[Owner], servers: Iterable[DesiredServer]) -> None:
        """Take what a trusted folder says at the first sight as approved."""
        present = [*servers]
        for owner in owners if self._review else ():
            if owner.scope is not Scope.PROJECT or self._is_reviewed(owner):
                continue
            if self.serves(owner):
                await self._approve_launches(owner, present)

    def held(self, servers: Iterable[DesiredServer]) -> frozenset[UUID]:
        """The servers that wait."""
        return frozenset(
            each.id
            for each in servers
            if each.owner.scope is Scope.PROJECT and not self._may_run(each)
        )

    def serves(self, owner: Owner) -> bool:
        """Whether an owner's folder was named or approved."""
        folder = self._folder(owner)
        return folder not in self._found or folder in self._approvals.all()

    async def approve(self, folder: Path, servers: Iterable[DesiredServer]) -> list[str]:
        """Trust a folder, and what its file says now; the names of the servers that waited."""
        key = _real(folder)
        of_folder = [
            each
            for each in servers
            if each.owner.scope is Scope.PROJECT and self._folder(each.owner) == key
        ]
        waited = [each.name for each in of_folder if not self._may_run(each)]
        await self._approvals.set(Approval(key, TRUSTED, self._clock.now()))
        for owner in {each.owner for each in of_folder} if self._review else ():
            await self._approve_launches(owner, of_folder)
        return waited

    def _may_run(self, server: DesiredServer) -> bool:
        if not self.serves(server.owner):
            return False
        if not self._review:
            return True
        word = self._approvals.all().get(_launch_key(server))
        return word is not None and word.covers(server.launch_digest)

    def _is_reviewed(self, owner: Owner) -> bool:
        return owner.place in self._approvals.all()

    async def _approve_launches(self, owner: Owner, servers: Iterable[DesiredServer]) -> None:
        now = self._clock.now()
        for each in servers:
            if each.owner == owner:
                await self._approvals.set(Approval(_launch_key(each), each.launch_digest, now))
        await self._approvals.set(Approval(owner.place, _REVIEWED, now))

    def _folder(self, owner: Owner) -> str:
        """The folder of a file, by whatever way it was named."""
        found = self._folders.get(owner.place)
        if found is None:
            found = self._folders[owner.place] = _real(Path(owner.place).parent)
        return found


def _real(folder: Path) -> str:
    try:
        return str(folder.resolve())
    except (OSError, RuntimeError):
        # A loop of links leads nowhere, and is the same folder as nothing else.
        return str(folder)


def _launch_key(server: DesiredServer) -> str:
    return f"{server.owner.place}#{server.name}"
