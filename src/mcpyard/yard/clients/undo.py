"""Taking edits back: the newest as long as what it left is there, and any other by its id."""

import asyncio
import contextlib
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mcpyard.domain.errors import ChangedSince, DocumentMoved, EditUnknown
from mcpyard.domain.files import FileWrite
from mcpyard.domain.ports import Clock
from mcpyard.domain.stored import CallToken, EditEntry, FileEdit
from mcpyard.yard.clients.edit_parts import EditParts, is_part
from mcpyard.yard.clients.transaction import (
    GRANTED,
    TRIES,
    ClientReach,
    EditTransaction,
    keeps_changing,
    way_back_of,
)
from mcpyard.yard.clients.way_back import ways_back
from mcpyard.yard.clients.yard_scope import MADE_UP, OwnServers


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo did, or would do: what is written, what leaves the yard, what is revoked.

    The others are in no text, such as secrets.
    """

    number: int
    backs: Sequence[FileWrite]
    removes: tuple[str, ...]
    revoked: tuple[CallToken, ...] = ()
    others: tuple[FileWrite, ...] = ()


@dataclass(frozen=True, slots=True)
class _Edit:
    """Edits that were made together; `by_id` if they were asked for by their number."""

    number: int
    parts: Sequence[tuple[EditEntry, FileEdit]]
    by_id: bool

    @property
    def texts(self) -> list[FileEdit]:
        """Those of texts."""
        return [edit for _, edit in self.parts if edit.path != GRANTED and not is_part(edit)]

    @property
    def others(self) -> list[FileEdit]:
        """Those that are in no text, the last one first."""
        return [edit for _, edit in reversed(self.parts) if is_part(edit)]


class EditUndo:
    """Takes edits back that a transaction carried out."""

    def __init__(
        self, reach: ClientReach, own: OwnServers, transaction: EditTransaction, clock: Clock
    ) -> None:
        self._edits = reach.edits
        self._tokens = reach.tokens
        self._owned = reach.owned
        self._registry = reach.registry
        self._own = own
        self._transaction = transaction
        self._clock = clock
        self._parts = EditParts(reach)
        self._one_at_a_time = asyncio.Lock()

    async def note_token(self, unit: int, token: str, who: str) -> None:
        """Remember that a token was made together with an edit, and goes with it."""
        # As it is kept everywhere: nothing that is stored opens anything.
        digest = hashlib.sha256(token.encode()).hexdigest().encode()
        await self._edits.add(
            FileEdit(self._clock.now(), who, "connect", GRANTED, None, digest), unit
        )

    async def note_parts(
        self, parts: Sequence[tuple[str, bytes | None, bytes | None]], kind: str, who: str
    ) -> int | None:
        """Journal what is in no text as one edit; the number to undo it by."""
        unit: int | None = None
        for path, before, after in parts:
            edit = FileEdit(self._clock.now(), who, kind, path, before, after)
            unit = (await self._edits.add(edit, unit)).unit
        return unit

    async def undo(self, unit: int | None, *, dry_run: bool = False) -> Undone:
        """Undo an edit, by default the newest that was not, or only tell what that would write.

        Of two who undo the same at once one is told that it is already undone.

        Raises:
            EditUnknown: There is no such edit, or it was undone.
            ChangedSince: What it left changed since; names the newer edits that did it.
        """
        # Whoever waits for another means the edit that was the newest when they asked.
        number = await self._newest() if unit is None else unit
        async with self._one_at_a_time:
            made = await self._edits.together(number)
            if not made or made[0][0].undone:
                why = "is already undone" if made else "is not among the recent edits"
                raise EditUnknown(f"the edit {number} {why}")
            edit = _Edit(number, made, unit is not None)
            try:
                for each in edit.others:
                    await self._parts.check(each)
                backs = await self._way_back(edit)
                others = tuple(map(self._parts.shown, edit.others))
                if dry_run:
                    return Undone(number, backs, self._own.removed_by(backs), others=others)
                undone = await self._take_back(edit, backs)
                for each in edit.others:
                    await self._parts.take_back(each)
            except ChangedSince as error:
                raise await self._explained(edit, error) from None
            revoked = [await self._revoke(each) for _, each in made if each.path == GRANTED]
        return replace(undone, revoked=tuple(filter(None, revoked)), others=others)

    async def _way_back(self, edit: _Edit) -> list[FileWrite]:
        backs = [way_back_of(each) for each in reversed(edit.texts)]
        # What is kept beside the project's file is found by the names that stand there.
        backs.sort(key=lambda each: each.path in MADE_UP)
        texts = await self._transaction.texts((each.path for each in backs), fresh=True)
        # Of an edit that a kill cut short, some files are as they were.
        backs = [it for it in backs if it.path in MADE_UP or texts[it.path].text != it.after]
        maps, intact = self._registry.entry_maps, not edit.by_id
        # A file may be large, and all of it is compared.
        return await asyncio.to_thread(ways_back, backs, texts, maps, intact=intact)

    async def _take_back(self, edit: _Edit, backs: Sequence[FileWrite]) -> Undone:
        async with self._transaction.locked(backs):
            for _ in range(TRIES):
                backs = await self._way_back(edit)
                removed = self._own.removed_by(backs)
                await self._own.prepare(backs)
                with contextlib.suppress(DocumentMoved):
                    await self._transaction.write_all(backs, None)
                    if self._owned:
                        await self._owned.take_back(edit.number)
                    for entry, _ in await self._edits.together(edit.number):
                        await self._edits.mark_undone(entry.id)
                    return Undone(edit.number, backs, removed)
        raise keeps_changing(backs)

    async def _explained(self, edit: _Edit, error: ChangedSince) -> ChangedSince:
        """The error, with the newer edits of the same servers, and how to go on."""
        views = await self._transaction.edits()
        servers = {name for each in views if each.id == edit.number for name in each.servers}
        paths = {each.path for each in edit.texts}
        newer = [
            each
            for each in views
            if each.id > edit.number
            and not each.undone
            and not servers.isdisjoint(each.servers)
            and not paths.isdisjoint(each.paths)
        ]
        message = error.message
        if newer:
            named = ", ".join(f"{each.id} ({each.kind} by {each.who})" for each in newer)
            message = f"{message}; newer edits: {named}"
        explained = ChangedSince(message, error.files)
        if newer:
            return explained.advising(f"Undo the newer edit first: mcpyard undo {newer[0].id}")
        if not edit.by_id:
            return explained.advising(f"Undo it by its id: mcpyard undo {edit.number}")
        return explained

    async def _revoke(self, edit: FileEdit) -> CallToken | None:
        """Make the token of an edit worthless, unless it is so already."""
        digest = (edit.after or b"").decode()
        token = self._tokens.by_hash(digest) if self._tokens else None
        if token is None or self._tokens is None:
            return None
        return await self._tokens.revoke(token.id, self._clock.now())

    async def _newest(self) -> int:
        for entry in await self._edits.recent():
            if not entry.undone:
                return entry.unit
        raise EditUnknown("there is no edit to undo")
