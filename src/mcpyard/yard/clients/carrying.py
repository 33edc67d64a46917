"""Carrying an operation out: under locks, journalled before a byte changes, all of it or nothing.

What is written is what the operation gives for the text that is there at that moment. When somebody
else writes meanwhile, it is done anew on what they wrote.
"""

import asyncio
import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from mcpyard.domain.errors import ChangedSince, DocumentMoved, EditUnknown, YardError
from mcpyard.domain.files import FileText, FileWrite
from mcpyard.domain.ports import ClientFiles, Clock
from mcpyard.domain.repositories import Edits, LeftOuts
from mcpyard.domain.stored import Edit, EditEntry
from mcpyard.formats.locating import Surroundings
from mcpyard.formats.roster import program_locks
from mcpyard.yard.clients.desk import Desk
from mcpyard.yard.clients.diffs import diff_of
from mcpyard.yard.clients.operations import Operation
from mcpyard.yard.clients.own import MADE_UP, OwnServers
from mcpyard.yard.clients.own_seat import OwnSeat
from mcpyard.yard.clients.records import Done, edit_record
from mcpyard.yard.records import Record

_TRIES: Final = 3


@dataclass(frozen=True, slots=True)
class ClientReach:
    """What the clients of a machine are reached through.

    Attributes:
        files: Their files.
        edits: The journal of what was done to them.
        left_outs: What copies left out.
        around: What decides where their files are; the project is that of whoever asks.
    """

    files: ClientFiles
    edits: Edits
    left_outs: LeftOuts
    around: Surroundings


class Carrier:
    """Carries operations out, and takes them back."""

    def __init__(self, reach: ClientReach, own: OwnServers, clock: Clock) -> None:
        self._files = reach.files
        self._edits = reach.edits
        self._around = reach.around
        self._own = own
        self._clock = clock

    async def texts(self, paths: Iterable[str], *, fresh: bool = False) -> Mapping[str, FileText]:
        """What documents say, those of the yard among them."""
        wanted = [*paths]
        real = [path for path in wanted if path not in MADE_UP]
        found = await self._files.read(real, fresh=fresh)
        return {**found, **{path: self._own.text(path) for path in MADE_UP.intersection(wanted)}}

    async def look(self, operation: Operation, known: Desk | None = None) -> Desk:
        """What an operation gives, with nothing written.

        Args:
            operation: What is asked for.
            known: What it gave a moment ago; it holds as long as the files say the same.
        """
        paths = [path for seat in operation.seats for path in seat.paths]
        texts = await self.texts(paths, fresh=True)
        desk = Desk(texts)
        if any(isinstance(seat, OwnSeat) for seat in operation.seats):
            operation.do(desk)
        elif known and known.is_of(texts):
            return known
        else:
            # A file may be large, and nobody else should wait for it.
            await asyncio.to_thread(operation.do, desk)
        return desk

    async def carry_out(self, operation: Operation, kind: str, who: str) -> tuple[Desk, int | None]:
        """Do it; what was done, and the number to undo it by.

        Raises:
            FileBusy: Somebody else holds a file.
            DocumentMoved: Somebody else writes again and again.
        """
        desk = await self.look(operation)
        writes = desk.writes()
        if not writes:
            return desk, None
        async with self._locked(writes):
            for _ in range(_TRIES):
                desk = await self.look(operation, desk)
                with contextlib.suppress(DocumentMoved):
                    return desk, await self._commit(desk, kind, who)
        raise DocumentMoved(f"{writes[0].path} was changed by somebody else again and again")

    async def undo(self, unit: int | None) -> tuple[int, list[FileWrite]]:
        """What it takes to undo an edit; the newest that was not undone yet, unless told."""
        number = await self._newest() if unit is None else unit
        made = await self._edits.together(number)
        if not made or made[0][0].undone:
            why = "is undone already" if made else "is not among the last ones"
            raise EditUnknown(f"the edit {number} {why}")
        backs = [_back(edit) for _, edit in reversed(made)]
        # What is kept beside the project's file is found by the names that stand there.
        backs.sort(key=lambda each: each.path in MADE_UP)
        texts = await self.texts((each.path for each in backs), fresh=True)
        self._refuse_changed(backs, texts)
        return number, backs

    async def take_back(self, number: int, backs: Sequence[FileWrite]) -> None:
        """Write what was there before, and mark the edit as undone."""
        async with self._locked(backs):
            await self._own.prepare(backs)
            await self._write_all(backs, None)
            for entry, _ in await self._edits.together(number):
                await self._edits.mark_undone(entry.id)

    async def edits(self) -> list[Record]:
        """The last edits, newest first."""
        entries = await self._edits.recent()
        units = groupby(reversed(entries), key=lambda each: each.unit)
        return [edit_record(each) for _, each in units][::-1]

    def _locked(self, writes: Sequence[FileWrite]) -> AbstractAsyncContextManager[None]:
        paths = [each.path for each in writes if each.path not in MADE_UP]
        known = program_locks(self._around)
        return self._files.locked(paths, [known[path] for path in paths if path in known])

    async def _newest(self) -> int:
        for entry in await self._edits.recent():
            if not entry.undone:
                return entry.unit
        raise EditUnknown("there is no edit to undo")

    def _refuse_changed(self, backs: Sequence[FileWrite], texts: Mapping[str, FileText]) -> None:
        moved = [
            FileWrite(each.path, each.before, texts[each.path].text)
            for each in backs
            if texts[each.path].text != each.before
        ]
        if moved:
            paths = ", ".join(each.path for each in moved)
            message = f"{paths} changed since the edit; undoing it would lose that"
            raise ChangedSince(message, tuple((each.path, diff_of(each)) for each in moved))

    async def _commit(self, desk: Desk, kind: str, who: str) -> int | None:
        unit = await self._note(desk.writes(), kind, who)
        try:
            await self._write_all(desk.writes(), desk)
        except BaseException:
            if unit is not None:
                await self._edits.drop(unit)
            raise
        return unit

    async def _note(self, writes: Sequence[FileWrite], kind: str, who: str) -> int | None:
        entry: EditEntry | None = None
        for each in writes:
            before, after = _encoded(each.before), _encoded(each.after)
            edit = Edit(self._clock.now(), who, kind, each.path, before, after)
            entry = await self._edits.add(edit, entry.unit if entry else None)
        return entry.unit if entry else None

    async def _write_all(self, writes: Sequence[FileWrite], desk: Desk | None) -> None:
        done: list[FileWrite] = []
        own = [each for each in writes if desk and desk.is_own(each.path)]
        try:
            for each in writes:
                if each not in own:
                    await self._write(each)
                elif desk and each is own[0]:
                    # The actions write all documents of the yard at once.
                    await self._own.carry_out(desk.actions)
                done.append(each)
        except BaseException:
            for each in reversed(done):
                # Whoever changed it since is not written over.
                with contextlib.suppress(YardError):
                    await self._write(each.back)
            raise

    async def _write(self, change: FileWrite) -> None:
        if change.path in MADE_UP:
            await self._own.become(change.path, change.after)
        elif not await self._own.rename_back(change):
            await self._files.write(change)


async def done(desk: Desk, edit: int | None, *, show_secrets: bool = False) -> Done:
    """What an operation did, or would do."""
    shown = await diffs(desk.writes(), show_secrets=show_secrets)
    return Done(shown, tuple(desk.warnings), edit)


async def diffs(
    writes: Sequence[FileWrite], *, show_secrets: bool = False
) -> tuple[tuple[str, str], ...]:
    """The path and the difference of each change."""

    def differences() -> tuple[tuple[str, str], ...]:
        return tuple((each.path, diff_of(each, show_secrets=show_secrets)) for each in writes)

    return await asyncio.to_thread(differences)


def _back(edit: Edit) -> FileWrite:
    return FileWrite(edit.path, _decoded(edit.after), _decoded(edit.before))


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _decoded(content: bytes | None) -> str | None:
    return None if content is None else content.decode()
