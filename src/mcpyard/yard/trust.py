"""What of project files may run: what was approved, kept by folder.

A project's file runs commands, and other people change it. An approval is bound to the entries as
they were written (see `domain.approval`). Naming a folder for the first time approves what its file
says then; a file that was merely found waits. A folder that is neither is trusted: its program
follows every edit.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from mcpyard.domain.definition.approval import ApprovedEntry, Entries, seen
from mcpyard.domain.desired import Document, Owner
from mcpyard.domain.errors import YardError
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import Approvals
from mcpyard.domain.stored import Approval

log = logging.getLogger(__name__)


class ApprovalPolicy(Struct, frozen=True):
    """Which folders' files need approval; any other folder is trusted.

    Attributes:
        named: Folders that the user named: what their files say the first time is approved.
        found: Folders whose file was merely found.
    """

    named: frozenset[Path] = frozenset()
    found: frozenset[Path] = frozenset()


class Trusting:
    """Lets everything run: the user's own program says what does."""

    async def begin(self, documents: Iterable[Document]) -> None:
        """Look at what there is for the first time."""

    def approved(self, documents: Iterable[Document]) -> Mapping[Owner, Entries]:
        """What is approved of each document that needs approval."""
        del documents
        return {}

    async def keep(self) -> None:
        """Store what changed since the last time."""

    def entries(self, owner: Owner) -> Entries | None:
        """What is approved of an owner's document; None where all of it may run."""
        del owner

    def serves(self, owner: Owner) -> bool:
        """Whether what is new may be written to this owner without being asked to."""
        del owner
        return True

    async def approve(self, owner: Owner, entries: Entries) -> None:
        """Approve entries of an owner's document, besides those that are."""

    async def approve_edits(self, owner: Owner, configs: Mapping[str, Config]) -> None:
        """Approve entries that are written from here: whoever makes the edit approves them."""

    async def give_up_edits(self, owner: Owner, names: Collection[str]) -> None:
        """Forget edits that were not written."""

    async def rename(self, owner: Owner, name: str, new: str) -> None:
        """Let what was approved under one name be approved under another."""


class Trust(Trusting):
    """Knows what was approved, and keeps it."""

    def __init__(self, approvals: Approvals, clock: Clock, policy: ApprovalPolicy) -> None:
        self._approvals = approvals
        self._clock = clock
        self._named = {*map(real_folder, policy.named)}
        self._governed = self._named | {*map(real_folder, policy.found)}
        self._trusted: set[str] = set()
        stored = approvals.all().values()
        self._entries = {each.folder: each.entries for each in stored if each.entries is not None}
        self._unbound = {each.folder for each in stored if each.entries is None}
        self._unkept: set[str] = set()
        self._folders: dict[str, str] = {}
        self._one_at_a_time = asyncio.Lock()

    async def begin(self, documents: Iterable[Document]) -> None:
        """Bind what is approved by the folder alone to the entries that are there now."""
        for document in documents:
            if document.owner.scope is not Scope.PROJECT:
                continue
            folder = self._folder(document.owner)
            if folder not in self._governed:
                self._trusted.add(folder)
            elif folder in self._unbound or folder in self._named - self._entries.keys():
                self._unbound.discard(folder)
                self._entries[folder] = {
                    each.name: ApprovedEntry(each.config) for each in document.definitions
                }
                self._unkept.add(folder)
        await self.keep()

    def approved(self, documents: Iterable[Document]) -> Mapping[Owner, Entries]:
        """What is approved of each document that needs approval."""
        approvals: dict[Owner, Entries] = {}
        for document in documents:
            entries = self.entries(document.owner)
            if entries is None:
                continue
            approvals[document.owner] = after = seen(document, entries)
            if after is entries:
                continue
            folder = self._folder(document.owner)
            self._entries[folder] = after
            if after != entries:
                self._unkept.add(folder)
        return approvals

    async def keep(self) -> None:
        """Store what changed since the last time."""
        while self._unkept:
            async with self._one_at_a_time:
                folder = self._unkept.pop()
                try:
                    await self._store(folder, self._entries[folder])
                except YardError as error:
                    # It holds until the end; a server must not stop because a disk is full.
                    log.warning("what is approved of %s was not stored: %s", folder, error)

    def entries(self, owner: Owner) -> Entries | None:
        """What is approved of an owner's document; None where all of it may run."""
        if owner.scope is not Scope.PROJECT or self._folder(owner) in self._trusted:
            return None
        return self._entries.get(self._folder(owner), {})

    def serves(self, owner: Owner) -> bool:
        """Whether something was approved of an owner's folder, or all of it is trusted."""
        folder = self._folder(owner)
        return folder in self._trusted or folder in self._entries

    async def approve(self, owner: Owner, entries: Entries) -> None:
        """Approve entries of an owner's document, besides those that are."""
        await self._change(owner, lambda present: {**present, **entries})

    async def approve_edits(self, owner: Owner, configs: Mapping[str, Config]) -> None:
        """Approve entries that are written from here: whoever makes the edit approves them."""

        def edited(present: Entries) -> Entries:
            return {
                **present,
                **{name: _edited(present.get(name), each) for name, each in configs.items()},
            }

        if configs:
            await self._change(owner, edited)

    async def give_up_edits(self, owner: Owner, names: Collection[str]) -> None:
        """Forget edits that were not written."""

        def without(present: Entries) -> Entries:
            edits = {name for name in names if name in present and present[name].edit}
            return {
                name: replace(entry, edit=None) if name in edits else entry
                for name, entry in present.items()
                if name in edits or name not in names
            }

        if names:
            await self._change(owner, without)

    async def rename(self, owner: Owner, name: str, new: str) -> None:
        """Let what was approved under one name be approved under another."""

        def renamed(present: Entries) -> Entries:
            others = {each: entry for each, entry in present.items() if each not in {name, new}}
            return {**others, new: present[name]}

        if name in (self.entries(owner) or {}):
            await self._change(owner, renamed)

    async def _change(self, owner: Owner, change: Callable[[Entries], Entries]) -> None:
        async with self._one_at_a_time:
            present = self.entries(owner)
            if present is None:
                return
            entries, folder = change(present), self._folder(owner)
            await self._store(folder, entries)
            self._entries[folder] = entries
            self._unbound.discard(folder)

    async def _store(self, folder: str, entries: Entries) -> None:
        await self._approvals.set(Approval(folder, self._clock.now(), entries))

    def _folder(self, owner: Owner) -> str:
        """The folder of a file, by whatever way it was named."""
        folder = self._folders.get(owner.place)
        if folder is None:
            folder = self._folders[owner.place] = real_folder(Path(owner.place).parent)
        return folder


def _edited(before: ApprovedEntry | None, config: Config) -> ApprovedEntry:
    if before is None or before.gone:
        return ApprovedEntry(config)
    return replace(before, edit=config)


def real_folder(folder: Path) -> str:
    """What a folder is known by, by whatever way it was named."""
    try:
        return str(folder.resolve())
    except (OSError, RuntimeError):
        # A loop of links leads nowhere, and is the same folder as nothing else.
        return str(folder)
