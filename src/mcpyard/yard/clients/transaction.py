"""Carrying an operation out: under locks, journalled before a byte changes, all of it or nothing.

What is written is what the operation gives for the text that is there at that moment. When somebody
else writes meanwhile, it is done anew on what they wrote.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from mcpyard.domain.errors import DocumentMoved, YardError
from mcpyard.domain.files import FileText, FileWrite
from mcpyard.domain.ports import ClientFiles, Clock
from mcpyard.domain.repositories import (
    Approvals,
    DroppedFields,
    Edits,
    OwnedEntries,
    SecretConsents,
    Secrets,
    Tokens,
)
from mcpyard.domain.stored import EditEntry, FileEdit
from mcpyard.formats.locations import ClientFolders
from mcpyard.formats.registry import BUILT_IN, ClientRegistry
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.diffs import diff_of
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.clients.edited_servers import files_beside, servers_named
from mcpyard.yard.clients.operations import Operation
from mcpyard.yard.clients.way_back import repeated, ways_back
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope import MADE_UP, OwnServers
from mcpyard.yard.clients.yard_scope_snapshot import NOTHING
from mcpyard.yard.clients.yard_scope_store import YardScopeStore
from mcpyard.yard.views.clients import EditView, edit_view

TRIES: Final = 3
GRANTED: Final = "yard:token"
"""Stands for the path of a token that was made together with an edit; its hash is what is there."""


@dataclass(frozen=True, slots=True)
class ClientReach:
    """What the clients of a machine are reached through.

    `around` decides where their files are, and `pause` waits so many seconds. A sync needs to know
    what it wrote and what was approved, and has a file in the home of mcpyard.
    """

    files: ClientFiles
    edits: Edits
    dropped_fields: DroppedFields
    around: ClientFolders
    tokens: Tokens | None = None
    owned: OwnedEntries | None = None
    approvals: Approvals | None = None
    home: str = ""
    registry: ClientRegistry = BUILT_IN
    secrets: Secrets | None = None
    consents: SecretConsents | None = None
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


class EditTransaction:
    """Carries operations out, and journals them."""

    def __init__(self, reach: ClientReach, own: OwnServers, clock: Clock) -> None:
        self._files = reach.files
        self._edits = reach.edits
        self._owned = reach.owned
        self._around = reach.around
        self._registry = reach.registry
        self._pause = reach.pause
        self._own = own
        self._clock = clock
        self._named: dict[tuple[int, ...], set[str]] = {}

    async def texts(self, paths: Iterable[str], *, fresh: bool = False) -> Mapping[str, FileText]:
        """What documents say, those of the yard among them."""
        requested = [*paths]
        real = [path for path in requested if path not in MADE_UP]
        contents = await self._files.read(real, fresh=fresh)
        return {
            **contents,
            **{path: self._own.text(path) for path in MADE_UP.intersection(requested)},
        }

    async def look(self, operation: Operation, earlier: Workspace | None = None) -> Workspace:
        """What an operation gives, with nothing written.

        What it gave `earlier` holds as long as files and yard say the same.
        """
        paths = dict.fromkeys(path for store in operation.stores for path in store.paths)
        texts = await self.texts(paths, fresh=True)
        inside = any(isinstance(store, YardScopeStore) for store in operation.stores)
        own = self._own.picture() if inside else NOTHING
        if earlier and earlier.is_of(texts, own):
            return earlier
        workspace = Workspace(texts, own)
        # A file may be large, or the servers many, and nobody else should wait for them.
        await asyncio.to_thread(operation.do, workspace)
        return workspace

    async def carry_out(
        self, operation: Operation, kind: str, who: str
    ) -> tuple[Workspace, int | None]:
        """Do it; what was done, and the number to undo it by.

        Raises:
            FileBusy: Somebody else holds a file.
            DocumentMoved: Somebody else writes again and again.
        """
        workspace = await self.look(operation)
        writes = workspace.writes()
        if not writes:
            return workspace, None
        async with self.locked(writes):
            for _ in range(TRIES):
                workspace = await self.look(operation, workspace)
                with contextlib.suppress(DocumentMoved):
                    unit = await self._commit(workspace, kind, who)
                    break
            else:
                raise keeps_changing(writes)
            return workspace, await self._settled(workspace, unit, kind, who)

    async def _settled(
        self, workspace: Workspace, unit: int | None, kind: str, who: str
    ) -> int | None:
        """Repeat what a program without a lock overwrote; the number to undo it all by.

        Raises:
            DocumentMoved: It overwrites every time; nothing of the edit is left.
        """
        writes = workspace.writes()
        times = self._registry.settling_times(self._around)
        seconds = max((times.get(each.path, 0.0) for each in writes), default=0.0)
        if not seconds:
            return unit
        for tries in range(TRIES):
            await self._pause(seconds)
            paths = [each.path for each in writes if each.path in times]
            texts = await self.texts(paths, fresh=True)
            again = await asyncio.to_thread(repeated, writes, texts, self._registry.entry_maps)
            if not again:
                await self._settle_claims(unit)
                return unit
            if tries == TRIES - 1:
                break
            warnings = workspace.overwritten
            warnings += [each for each in map(_overwritten, again) if each not in warnings]
            writes = tuple(again.get(each.path, each) for each in writes)
            earlier, unit = unit, await self.note(writes, kind, who)
            await self._forget(earlier)
            await self._claim(workspace, unit)
            for each in again.values():
                with contextlib.suppress(DocumentMoved):
                    await self._files.write(each)
        await self._give_up(writes, unit)
        raise DocumentMoved(f"{writes[0].path} keeps being overwritten by its program")

    async def _give_up(self, writes: Sequence[FileWrite], unit: int | None) -> None:
        if not await self._roll_back(writes):
            await self._forget(unit)

    async def _claim(self, workspace: Workspace, unit: int | None) -> None:
        """Own what a sync is about to write."""
        if self._owned and workspace.claims and unit is not None:
            await self._owned.claim(workspace.claims, unit)

    async def _forget(self, unit: int | None) -> None:
        """Leave nothing of an edit that was not made, or is made anew."""
        if unit is None:
            return
        await self._edits.drop(unit)
        if self._owned:
            await self._owned.take_back(unit)

    async def note(self, writes: Sequence[FileWrite], kind: str, who: str) -> int | None:
        """Journal what was, or is about to be, written; the number to undo it by."""
        entry: EditEntry | None = None
        for each in writes:
            before, after = _encoded(each.before), _encoded(each.after)
            edit = FileEdit(self._clock.now(), who, kind, each.path, before, after)
            entry = await self._edits.add(edit, entry.unit if entry else None)
        return entry.unit if entry else None

    async def edits(self) -> list[EditView]:
        """The last edits, newest first."""
        entries = [each for each in await self._edits.recent() if each.path != GRANTED]
        units = groupby(reversed(entries), key=lambda each: each.unit)
        grouped = [(unit, [*each]) for unit, each in units]
        return [edit_view(each, await self._servers(unit, each)) for unit, each in grouped][::-1]

    async def _servers(self, unit: int, entries: Sequence[EditEntry]) -> set[str]:
        """The servers that edits which were made together concern."""
        marks = tuple(each.id for each in entries)
        if marks not in self._named:
            made = [way_back_of(edit) for _, edit in await self._edits.together(unit)]
            project = str(self._own.project) if self._own.project else ""
            around = replace(self._around, project=project)
            clients = self._registry.clients
            texts = await self.texts(files_beside(made, around, clients))
            # A file may be large; and what an edit was about stays as it is.
            self._named[marks] = await asyncio.to_thread(
                servers_named, made, around, texts, clients
            )
        return self._named[marks]

    def locked(self, writes: Sequence[FileWrite]) -> AbstractAsyncContextManager[None]:
        """Keep other mcpyards, and programs with a lock, from writing what is about to change."""
        paths = [each.path for each in writes if each.path not in MADE_UP]
        locks = self._registry.program_locks(self._around)
        return self._files.locked(paths, [locks[path] for path in paths if path in locks])

    async def _commit(self, workspace: Workspace, kind: str, who: str) -> int | None:
        unit, left = await self.note(workspace.writes(), kind, who), list[FileWrite]()
        try:
            await self._claim(workspace, unit)
            await self.write_all(workspace.writes(), workspace, left)
        except BaseException:
            # What others keep from being taken back can still be undone by its number.
            if not left:
                await self._forget(unit)
            raise
        await self._settle_claims(unit)
        return unit

    async def _settle_claims(self, unit: int | None) -> None:
        if self._owned and unit is not None:
            await self._owned.settle(unit)

    async def write_all(
        self,
        writes: Sequence[FileWrite],
        workspace: Workspace | None,
        left: list[FileWrite] | None = None,
    ) -> None:
        """Write all or nothing; without a workspace, what takes an edit back.

        Where it fails, `left` gets what was written and could not be taken back.
        """
        done: list[FileWrite] = []
        own = [each for each in writes if workspace and workspace.is_own(each.path)]
        try:
            for each in writes:
                if each not in own:
                    asked_for = workspace is None or each.path not in workspace.unapproved
                    await self._write(each, approve=asked_for)
                elif workspace and each is own[0]:
                    # The actions write all documents of the yard at once.
                    await self._own.carry_out(workspace.actions)
                done.append(each)
        except BaseException:
            remaining = await self._roll_back(done)
            if left is not None:
                left += remaining
            raise

    async def _roll_back(self, done: Sequence[FileWrite]) -> list[FileWrite]:
        """Take back what was written; what of it is still there."""
        left: list[FileWrite] = []
        for each in reversed(done):
            try:
                await self._take_back(each)
            except YardError:
                left.append(each)
        return left

    async def _take_back(self, write: FileWrite) -> None:
        """Take back what was written to a file; what others wrote there since stays.

        Raises:
            ChangedSince: They changed that very part of it.
            DocumentMoved: They write again and again.
        """
        with contextlib.suppress(DocumentMoved):
            await self._write(write.back)
            return
        for _ in range(TRIES):
            texts = await self.texts([write.path], fresh=True)
            maps = self._registry.entry_maps
            backs = await asyncio.to_thread(ways_back, [write.back], texts, maps)
            with contextlib.suppress(DocumentMoved):
                for each in backs:
                    await self._write(each)
                return
        raise keeps_changing([write])

    async def _write(self, change: FileWrite, *, approve: bool = True) -> None:
        if change.path in MADE_UP:
            await self._own.become(change.path, change.after)
        elif not await self._own.rename_back(change):
            await self._files.write(change)
            if approve:
                await self._own.approve_write(change)


async def done(workspace: Workspace, edit: int | None, *, show_secrets: bool = False) -> Done:
    """What an operation did, or would do."""
    files = await diffs(workspace.writes(), show_secrets=show_secrets)
    overwritten = tuple(workspace.overwritten)
    return Done(files, (*workspace.warnings, *overwritten), edit, overwritten=overwritten)


async def diffs(
    writes: Sequence[FileWrite], *, show_secrets: bool = False
) -> tuple[tuple[str, str], ...]:
    """The path and the difference of each change."""
    return await asyncio.to_thread(
        lambda: tuple((each.path, diff_of(each, show_secrets=show_secrets)) for each in writes)
    )


def _overwritten(path: str) -> Warned:
    message = f"{path} was overwritten by its program; the edit was repeated"
    return Warned(WarningKind.INFO, "", "", message)


def keeps_changing(writes: Sequence[FileWrite]) -> DocumentMoved:
    """That somebody else writes again and again."""
    return DocumentMoved(f"{writes[0].path} keeps being changed by another program")


def way_back_of(edit: FileEdit) -> FileWrite:
    """An edit the other way round."""
    return FileWrite(edit.path, _decoded(edit.after), _decoded(edit.before))


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _decoded(content: bytes | None) -> str | None:
    return None if content is None else content.decode()
