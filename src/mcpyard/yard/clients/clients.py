"""One place for every program's servers: what the faces ask of it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import (
    ArgumentsRefused,
    Problem,
)
from mcpyard.domain.files import FileText
from mcpyard.domain.model import Scope
from mcpyard.domain.ports import Clock
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.drift import drift
from mcpyard.formats.effective import Evaluation, files_of, judge
from mcpyard.formats.entry_list import nobody
from mcpyard.formats.facts import Client
from mcpyard.formats.finding import Finding
from mcpyard.formats.lint import lint
from mcpyard.formats.locations import ClientFolders, ClientScopeRef
from mcpyard.formats.registry import CLIENTS, client_of, scope_ref_of
from mcpyard.yard.clients.connecting import Addressed, Bridged, Connecting
from mcpyard.yard.clients.importer import ImportCandidate, Taking
from mcpyard.yard.clients.operations import (
    Changing,
    Copying,
    Importing,
    Operation,
    Removing,
)
from mcpyard.yard.clients.results import Done, Shown
from mcpyard.yard.clients.scope_store import FileScopeStore, ScopeStore
from mcpyard.yard.clients.transaction import ClientReach, EditTransaction, diffs, done
from mcpyard.yard.clients.workspace import broken
from mcpyard.yard.clients.yard_scope import YARD, OwnServers
from mcpyard.yard.clients.yard_scope_store import YardScopeStore
from mcpyard.yard.clients.yard_scope_view import OwnView
from mcpyard.yard.views.clients import (
    DriftView,
    EditView,
    EntryView,
    FindingView,
    ImportView,
    ScopeView,
    drift_view,
    entry_view,
    file_view,
    finding_view,
)

if TYPE_CHECKING:
    from mcpyard.domain.stored import CallToken

LIBRARY: Final = "library"

_Texts = Mapping[str, FileText]


@dataclass(frozen=True, slots=True)
class EditTerms:
    """How something is asked for.

    Attributes:
        project: The folder that it is looked at from; None for the yard's own project.
        dry_run: Only tell what would be.
        show_secrets: Mask nothing in what is told; for the user's own terminal.
        who: Who asks, for the journal.
    """

    project: str | None = None
    dry_run: bool = False
    show_secrets: bool = False
    who: str = LIBRARY


@dataclass(frozen=True, slots=True)
class Copy:
    """What to copy: the words of two scopes, such as `claude:project`, and a name.

    Attributes:
        source: Where it is.
        target: Where it is to be.
        name: What it is called.
        new_name: What it is to be called; None for the same.
        matrix: The table to follow.
        replace: Whether to put it in the place of one that has its name.
        move: Whether to take it away from where it is.
    """

    source: str
    target: str
    name: str
    new_name: str | None = None
    matrix: Matrix = Matrix.NATIVE
    replace: bool = False
    move: bool = False


_PLAIN: Final = EditTerms()


class Clients:
    """The servers of every program on this machine, and of the yard itself.

    Attributes:
        revoked: Hears of a token that an undo made worthless.
    """

    def __init__(
        self,
        reach: ClientReach,
        own: OwnServers,
        clock: Clock,
        here: Callable[[], SelfIdentity] = SelfIdentity,
    ) -> None:
        self._reach = reach
        self._own = own
        self._view = OwnView(own)
        self._carrier = EditTransaction(reach, own, clock)
        self._here = here
        self.revoked: Callable[[CallToken], None] = lambda _: None
        self._judged: dict[str, tuple[ClientFolders, _Texts, Evaluation]] = {}

    @property
    def folder(self) -> str:
        """The folder that programs are looked at from unless another is named; empty for none."""
        return self._around(None).project

    async def groups(self, project: str | None = None) -> list[ScopeView]:
        """Every scope of every client, with its servers and what becomes of each."""
        judgements = await self._judgements(self._around(project))
        files = [file_view(file) for each in judgements for file in each.files]
        return files + self._view.groups()

    async def show(self, words: str, name: str, project: str | None = None) -> EntryView:
        """One server with everything that its file says of it.

        Raises:
            ServerUnknown: There is none of that name.
            DocumentBroken: Its file cannot be read.
        """
        around = self._around(project)
        spot = scope_ref_of(words, around.project)
        if spot.client.id == YARD:
            return self._view.show(spot, name)
        seat = FileScopeStore.of(spot, around)
        judgement = await self._judgement(spot.client, around)
        files = [file for file in judgement.files if file.ref.scope == spot.scope]
        for file in reversed(files):
            for standing in file.statuses:
                if standing.listed.name == name:
                    return entry_view(file.ref, file.path, Shown.of(standing))
        faults = [problem for file in files if not file.statuses for problem in file.problems]
        raise broken(*faults) if faults else nobody(name, seat.spot)

    async def edit(
        self, words: str, name: str, patch: Mapping[str, object], terms: EditTerms = _PLAIN
    ) -> Done:
        """Change a server by a merge patch in neutral words.

        `name` renames it and `enabled` switches it, in the way that its program understands; a
        masked value means keep, and null removes.
        """
        return await self._change(Changing(self._seat(words, terms), name, patch), "edit", terms)

    async def toggle(
        self, words: str, name: str, *, enabled: bool, terms: EditTerms = _PLAIN
    ) -> Done:
        """Switch a server on or off."""
        wish = Changing(self._seat(words, terms), name, {"enabled": enabled})
        return await self._change(wish, "toggle", terms)

    async def rename(self, words: str, name: str, new_name: str, terms: EditTerms = _PLAIN) -> Done:
        """Give a server another name."""
        wish = Changing(self._seat(words, terms), name, {"name": new_name})
        return await self._change(wish, "rename", terms)

    async def remove(self, words: str, name: str, terms: EditTerms = _PLAIN) -> Done:
        """Take a server out."""
        return await self._do(Removing(self._seat(words, terms), name), "remove", terms)

    async def copy(self, copy: Copy, terms: EditTerms = _PLAIN) -> Done:
        """Copy a server, or move it; one unit to undo, even over several files.

        Raises:
            NameTaken: The target has one of that name, and it was not said to replace it.
            NameRefused: A name that the target does not take; one that it does is offered.
            DefinitionError: The target would refuse it.
            EditRefused: It would be copied onto itself.
        """
        wish = await self._copying(copy, terms)
        finished = await self._do(wish, "move" if copy.move else "copy", terms)
        if not terms.dry_run:
            await self._keep_left_out(wish)
        return finished

    async def connect(
        self, words: str, name: str, way: Bridged | Addressed, terms: EditTerms = _PLAIN
    ) -> tuple[Done, bool]:
        """Write the gateway into a program's configuration.

        Returns:
            What was done, and whether the program finds its token in a variable.

        Raises:
            NameTaken: Another server has that name there.
        """
        ours = scope_ref_of(f"{YARD}:{Scope.USER}")
        wish = Connecting(self._seat(words, terms), name, way, ours, self._here())
        finished = await self._do(wish, "connect", terms)
        if isinstance(way, Addressed) and finished.edit is not None:
            await self._carrier.note_token(finished.edit, way.token, terms.who)
        return finished, wish.by_variable

    async def undo(self, number: int | None = None, terms: EditTerms = _PLAIN) -> Done:
        """Undo one of the last hundred edits; the newest that was not undone, unless told.

        A token that was made for a connection is worthless once that is undone.

        Raises:
            EditUnknown: There is no such edit, or it was undone.
            ChangedSince: The file changed since; with what changed.
        """
        undone = await self._carrier.undo(number, dry_run=terms.dry_run)
        for token in undone.revoked:
            self.revoked(token)
        shown = await diffs(undone.backs, show_secrets=terms.show_secrets)
        return Done(shown, (), undone.number, undone.removes)

    async def edits(self) -> list[EditView]:
        """The last edits, newest first."""
        return await self._carrier.edits()

    async def lint(self, project: str | None = None) -> list[FindingView]:
        """What the rules of each program have to say about its files."""
        return [finding_view(each) for each in await self.findings(project)]

    async def findings(self, project: str | None = None) -> list[Finding]:
        """The same, to be told in any language."""
        around = self._around(project)
        found: list[Finding] = []
        for client in _programs():
            texts = await self._carrier.texts(files_of(client, around), fresh=True)
            found += await asyncio.to_thread(lint, client, around, texts)
        return found

    async def drift(self, project: str | None = None) -> list[DriftView]:
        """The servers that are not defined alike everywhere."""
        judgements = await self._judgements(self._around(project))
        standings = [each for judgement in judgements for each in judgement.statuses]
        return [drift_view(each) for each in drift([*standings, *self._view.standings()])]

    async def import_all(
        self, scope: str | None = None, terms: EditTerms = _PLAIN
    ) -> list[ImportView]:
        """Take every server that is found on the machine into the yard, where it waits, stopped.

        What is there already, what points back to this gateway, and what was found before is left
        out, and told. All of it is one unit to undo.
        """
        await self._check_folder(terms)
        target = scope_ref_of(f"{YARD}:{scope or Scope.USER}")
        judgements = await self._judgements(self._around(terms.project))
        taking = Taking(target, self._own, self._here())
        standings = [each for judgement in judgements for each in judgement.statuses]
        found = await asyncio.to_thread(taking.weigh_all, standings)
        if not terms.dry_run:
            found = await self._import(found, target, terms)
        return [each.view for each in found]

    async def _import(
        self, found: Sequence[ImportCandidate], target: ClientScopeRef, terms: EditTerms
    ) -> list[ImportCandidate]:
        copies = {
            number: Copy(str(each.standing.ref), str(target), each.name)
            for number, each in enumerate(found)
            if each.importable
        }
        wish = Importing({it: await self._copying(copy, terms) for it, copy in copies.items()})
        await self._do(wish, "import", terms)
        for number in wish.copies.keys() - wish.refused.keys():
            await self._keep_left_out(wish.copies[number])
        return [
            each.imported(wish.told[number], wish.refused.get(number))
            if number in wish.copies
            else each
            for number, each in enumerate(found)
        ]

    async def _copying(self, copy: Copy, terms: EditTerms) -> Copying:
        source, target = self._seat(copy.source, terms), self._seat(copy.target, terms)
        new_name = copy.name if copy.new_name is None else copy.new_name
        kept = await self._reach.dropped_fields.get(_shelf(source), copy.name)
        return Copying(
            source, target, copy.name, new_name, copy.matrix, copy.replace, copy.move, kept
        )

    async def _keep_left_out(self, wish: Copying) -> None:
        await self._reach.dropped_fields.set(_shelf(wish.target), wish.new_name, wish.left)

    async def _change(self, wish: Changing, kind: str, terms: EditTerms) -> Done:
        finished = await self._do(wish, kind, terms)
        new_name = wish.patch.get("name", wish.name)
        if isinstance(new_name, str) and new_name != wish.name and not terms.dry_run:
            # What a copy left out goes with it under its new name.
            shelf, kept = _shelf(wish.seat), self._reach.dropped_fields
            await kept.set(shelf, new_name, await kept.get(shelf, wish.name))
        return finished

    async def _do(self, operation: Operation, kind: str, terms: EditTerms) -> Done:
        await self._check_folder(terms)
        if terms.dry_run:
            desk, edit = await self._carrier.look(operation), None
        else:
            desk, edit = await self._carrier.carry_out(operation, kind, terms.who)
        return await done(desk, edit, show_secrets=terms.show_secrets)

    async def _check_folder(self, terms: EditTerms) -> None:
        """Refuse a project that is not there: its files would be made with all that is above."""
        if terms.project and not await self._reach.files.is_folder(terms.project):
            message = f"there is no folder {terms.project}"
            raise ArgumentsRefused.of(Problem("project", message))

    def _seat(self, words: str, terms: EditTerms) -> ScopeStore:
        around = self._around(terms.project)
        spot = scope_ref_of(words, around.project)
        return (
            YardScopeStore(spot, self._own)
            if spot.client.id == YARD
            else FileScopeStore.of(spot, around)
        )

    def _around(self, project: str | None) -> ClientFolders:
        own = str(self._own.project) if self._own.project else ""
        return replace(self._reach.around, project=own if project is None else project)

    async def _judgements(self, around: ClientFolders) -> list[Evaluation]:
        return [await self._judgement(client, around) for client in _programs()]

    async def _judgement(self, client: Client, around: ClientFolders) -> Evaluation:
        texts = await self._carrier.texts(files_of(client, around))
        known = self._judged.get(client.id)
        if known and known[0] == around and _same(known[1], texts):
            return known[2]
        judgement = await asyncio.to_thread(judge, client, around, texts)
        self._judged[client.id] = around, texts, judgement
        return judgement


def matrix_of(word: str) -> Matrix:
    """A table by its word."""
    if word not in {*Matrix}:
        known = ", ".join(Matrix)
        raise ArgumentsRefused.of(Problem("matrix", f'"{word[:40]}" is unknown; expected {known}'))
    return Matrix(word)


def words_of(client: str, scope: str | None) -> str:
    """The words of a client and a scope that were given apart."""
    return f"{client_of(client).id}:{scope}" if scope else client_of(client).id


def _programs() -> tuple[Client, ...]:
    return tuple(client for client in CLIENTS if client.id != YARD)


def _shelf(seat: ScopeStore) -> str:
    """Where what was left out is kept: the same place by whatever words it is named."""
    return f"{seat.spot}@{seat.paths[0]}"


def _same(known: _Texts, texts: _Texts) -> bool:
    # A file that stayed as it was is read once, so the very same text means the same file.
    return known.keys() == texts.keys() and all(
        each is known[path] or (each.text is known[path].text is None and each == known[path])
        for path, each in texts.items()
    )
