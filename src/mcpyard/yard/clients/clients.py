"""One place for every program's servers: what the faces ask of it."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.model import Scope
from mcpyard.domain.ports import Clock
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.drift import drift
from mcpyard.formats.entry_list import nobody
from mcpyard.formats.finding import Finding
from mcpyard.formats.lint import lint
from mcpyard.formats.locations import ClientFolders, ClientScopeRef
from mcpyard.yard.clients.connecting import Addressed, Bridged, Connecting, Disconnecting
from mcpyard.yard.clients.edit_results import Copied, Done, EntryStatus
from mcpyard.yard.clients.edit_terms import Copy, EditTerms
from mcpyard.yard.clients.evaluations import ClientEvaluations
from mcpyard.yard.clients.importer import ImportCandidate, Taking
from mcpyard.yard.clients.operations import (
    Changing,
    Copying,
    Importing,
    Operation,
    Removing,
    dropped_key,
)
from mcpyard.yard.clients.own_edits import OwnEdits
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.transaction import ClientReach, EditTransaction, diffs, done
from mcpyard.yard.clients.undo import EditUndo
from mcpyard.yard.clients.verified import unverified_warnings
from mcpyard.yard.clients.workspace import broken
from mcpyard.yard.clients.yard_scope import YARD, OwnServers
from mcpyard.yard.clients.yard_scope_store import ScopeStore, YardScopeStore
from mcpyard.yard.clients.yard_scope_view import OwnView
from mcpyard.yard.views.base import view_of
from mcpyard.yard.views.clients import (
    DriftView,
    EditView,
    EntryView,
    FindingView,
    ImportView,
    ScopeView,
    definition_views,
    drift_view,
    entry_view,
    file_view,
)

if TYPE_CHECKING:
    from mcpyard.domain.stored import CallToken

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
        identity: Callable[[], SelfIdentity] = SelfIdentity,
    ) -> None:
        self._reach = reach
        self._own = own
        self._view = OwnView(own)
        self._transaction = EditTransaction(reach, own, clock)
        self._undo = EditUndo(reach, own, self._transaction, clock)
        self._own_edits = OwnEdits(own, self._transaction)
        self._identity = identity
        self.revoked: Callable[[CallToken], None] = lambda _: None
        self._evaluations = ClientEvaluations(reach.registry, self._transaction)

    @property
    def folder(self) -> str:
        """The folder that programs are looked at from unless another is named; empty for none."""
        return self._around(None).project

    async def groups(self, project: str | None = None) -> list[ScopeView]:
        """Every scope of every client, with its servers and what becomes of each."""
        evaluations = await self._evaluations.of_all(self._around(project))
        files = [file_view(file) for each in evaluations for file in each.files]
        broken_definitions = definition_views(self._reach.registry.problems)
        return files + broken_definitions + self._view.groups()

    def words_of_scope(self, words: str) -> str:
        """A client and its scope by words such as `claude`, in full."""
        return str(self._reach.registry.scope_ref_of(words))

    def refuse_unverified(self, words: str, terms: EditTerms) -> None:
        """Raise `ClientUnverified` where an edit on these terms would."""
        ref = self._reach.registry.scope_ref_of(words)
        unverified_warnings([ref], confirmed=terms.unverified)

    def client_id(self, words: str) -> str:
        """The id of the client in words such as `claude:project`."""
        return self._reach.registry.scope_ref_of(words).client.id

    async def show(self, words: str, name: str, project: str | None = None) -> EntryView:
        """One server with everything that its file says of it.

        Raises:
            ServerUnknown: There is none of that name.
            DocumentBroken: Its file cannot be read.
        """
        around = self._around(project)
        ref = self._reach.registry.scope_ref_of(words, around.project)
        if ref.client.id == YARD:
            return self._view.show(ref, name)
        store = FileScopeStore.of(ref, around)
        evaluation = await self._evaluations.of(ref.client, around)
        files = [file for file in evaluation.files if file.ref.scope == ref.scope]
        for file in reversed(files):
            for status in file.statuses:
                if status.listed.name == name:
                    return entry_view(file.ref, file.path, EntryStatus.of(status))
        faults = [problem for file in files if not file.statuses for problem in file.problems]
        raise broken(*faults) if faults else nobody(name, store.ref)

    async def edit(
        self, words: str, name: str, patch: Mapping[str, object], terms: EditTerms = _PLAIN
    ) -> Done:
        """Change a server by a merge patch in neutral words.

        `name` renames it and `enabled` switches it, in the way that its program understands; a
        masked value means keep, and null removes.
        """
        return await self._change(Changing(self._store(words, terms), name, patch), "edit", terms)

    async def toggle(
        self, words: str, name: str, *, enabled: bool, terms: EditTerms = _PLAIN
    ) -> Done:
        """Switch a server on or off."""
        operation = Changing(self._store(words, terms), name, {"enabled": enabled})
        return await self._change(operation, "toggle", terms)

    async def rename(self, words: str, name: str, new_name: str, terms: EditTerms = _PLAIN) -> Done:
        """Give a server another name."""
        operation = Changing(self._store(words, terms), name, {"name": new_name})
        return await self._change(operation, "rename", terms)

    async def remove(self, words: str, name: str, terms: EditTerms = _PLAIN) -> Done:
        """Take a server out."""
        return await self._do(Removing(self._store(words, terms), name), "remove", terms)

    async def copy(self, copy: Copy, terms: EditTerms = _PLAIN) -> Done:
        """Copy a server, or move it; one unit to undo, even over several files.

        Raises:
            NameTaken: The target has one of that name, and it was not said to replace it.
            NameRefused: A name that the target does not take; one that it does is offered.
            DefinitionError: The target would refuse it.
            EditRefused: It would be copied onto itself.
        """
        operation = await self._copying(copy, terms)
        finished = await self._do(operation, "move" if copy.move else "copy", terms)
        if not terms.dry_run:
            await self._keep_dropped(operation)
        return finished

    async def copy_all(
        self, copies: Sequence[Copy], terms: EditTerms = _PLAIN, kind: str = "import"
    ) -> tuple[Done, list[Copied]]:
        """Copy servers in one unit to undo; what keeps one out keeps out no other."""
        operation, done = await self._copy_all(dict(enumerate(copies)), terms, kind)
        return done, [operation.copied(number) for number in operation.copies]

    async def connect(
        self, words: str, name: str, way: Bridged | Addressed, terms: EditTerms = _PLAIN
    ) -> tuple[Done, bool]:
        """Write the gateway into a program's configuration.

        Returns:
            What was done, and whether the program finds its token in a variable.

        Raises:
            NameTaken: Another server has that name there.
        """
        ours = self._reach.registry.scope_ref_of(f"{YARD}:{Scope.USER}")
        operation = Connecting(self._store(words, terms), name, way, ours, self._identity())
        finished = await self._do(operation, "connect", terms)
        if isinstance(way, Addressed) and finished.edit is not None:
            await self._undo.note_token(finished.edit, way.token, terms.who)
        return finished, operation.by_variable

    async def disconnect(self, words: str, terms: EditTerms = _PLAIN) -> Done:
        """Take the gateway out of a program's configuration.

        Raises:
            ServerUnknown: No entry there leads here.
        """
        operation = Disconnecting(self._store(words, terms), self._identity())
        return await self._do(operation, "disconnect", terms)

    async def undo(self, number: int | None = None, terms: EditTerms = _PLAIN) -> Done:
        """Undo one of the last hundred edits; the newest that was not undone, unless told.

        A token that was made for a connection is worthless once that is undone.

        Raises:
            EditUnknown: There is no such edit, or it was undone.
            ChangedSince: The file changed since; with what changed.
        """
        undone = await self._undo.undo(number, dry_run=terms.dry_run)
        for token in undone.revoked:
            self.revoked(token)
        changes = [*undone.backs, *undone.others]
        files = await diffs(changes, show_secrets=terms.show_secrets)
        return Done(files, (), undone.number, undone.removes)

    async def edits(self) -> list[EditView]:
        """The last edits, newest first."""
        return await self._transaction.edits()

    async def lint(self, project: str | None = None) -> list[FindingView]:
        """What the rules of each program have to say about its files."""
        return view_of(list[FindingView], await self.findings(project))

    async def findings(self, project: str | None = None) -> list[Finding]:
        """The same, to be told in any language."""
        around = self._around(project)
        findings: list[Finding] = []
        for client in self._evaluations.programs:
            texts = await self._evaluations.texts(client, around, fresh=True)
            findings += await asyncio.to_thread(lint, client, around, texts)
        return findings

    async def drift(self, project: str | None = None) -> list[DriftView]:
        """The servers that are not defined alike everywhere."""
        evaluations = await self._evaluations.of_all(self._around(project))
        statuses = [each for evaluation in evaluations for each in evaluation.statuses]
        return [drift_view(each) for each in drift([*statuses, *self._view.statuses()])]

    async def import_all(
        self, scope: str | None = None, terms: EditTerms = _PLAIN
    ) -> list[ImportView]:
        """Take every server that is found on the machine into the yard, where it waits, stopped.

        What is there already, what points back to this gateway, and what was found before is left
        out, and told. All of it is one unit to undo.
        """
        imported, _ = await self._import_machine(scope, terms)
        return imported

    async def _import_machine(
        self, scope: str | None, terms: EditTerms
    ) -> tuple[list[ImportView], int | None]:
        await self._check_folder(terms)
        target = self._reach.registry.scope_ref_of(f"{YARD}:{scope or Scope.USER}")
        evaluations = await self._evaluations.of_all(self._around(terms.project))
        taking = Taking(target, self._own, self._identity())
        statuses = [each for evaluation in evaluations for each in evaluation.statuses]
        candidates = await asyncio.to_thread(taking.weigh_all, statuses)
        edit: int | None = None
        if not terms.dry_run:
            candidates, edit = await self._import(candidates, target, terms)
        return [each.view for each in candidates], edit

    async def _import(
        self, candidates: Sequence[ImportCandidate], target: ClientScopeRef, terms: EditTerms
    ) -> tuple[list[ImportCandidate], int | None]:
        copies = {
            number: Copy(str(each.status.ref), str(target), each.name)
            for number, each in enumerate(candidates)
            if each.importable
        }
        operation, done = await self._copy_all(copies, terms)
        imported = [
            each.imported(operation.warnings[number], operation.refused.get(number))
            if number in operation.copies
            else each
            for number, each in enumerate(candidates)
        ]
        return imported, done.edit

    async def _copy_all(
        self, copies: Mapping[int, Copy], terms: EditTerms, kind: str = "import"
    ) -> tuple[Importing, Done]:
        # What is read or kept of all of them at once is one look, and one write.
        requests = await asyncio.gather(*(self._copying(each, terms) for each in copies.values()))
        operation = Importing(dict(zip(copies, requests, strict=True)))
        done = await self._do(operation, kind, terms)
        imported = operation.copies.keys() - operation.refused.keys()
        if not terms.dry_run:
            await asyncio.gather(*(self._keep_dropped(operation.copies[it]) for it in imported))
        return operation, done

    async def _copying(self, copy: Copy, terms: EditTerms) -> Copying:
        source, target = self._store(copy.source, terms), self._store(copy.target, terms)
        new_name = copy.name if copy.new_name is None else copy.new_name
        dropped = await self._reach.dropped_fields.get(dropped_key(source), copy.name)
        return Copying(
            source, target, copy.name, new_name, copy.matrix, copy.replace, copy.move, dropped
        )

    async def _keep_dropped(self, operation: Copying) -> None:
        await self._reach.dropped_fields.set(
            dropped_key(operation.target), operation.new_name, operation.left
        )

    async def _change(self, operation: Changing, kind: str, terms: EditTerms) -> Done:
        finished = await self._do(operation, kind, terms)
        new_name = operation.patch.get("name", operation.name)
        if isinstance(new_name, str) and new_name != operation.name and not terms.dry_run:
            # What a copy left out goes with it under its new name.
            key, dropped = dropped_key(operation.store), self._reach.dropped_fields
            await dropped.set(key, new_name, await dropped.get(key, operation.name))
        return finished

    async def _do(self, operation: Operation, kind: str, terms: EditTerms) -> Done:
        await self._check_folder(terms)
        written = (store.ref for store in operation.written)
        warnings = unverified_warnings(written, confirmed=terms.unverified or terms.dry_run)
        if terms.dry_run:
            workspace, edit = await self._transaction.look(operation), None
        else:
            workspace, edit = await self._transaction.carry_out(operation, kind, terms.who)
        finished = await done(workspace, edit, show_secrets=terms.show_secrets)
        return replace(finished, warnings=(*warnings, *finished.warnings))

    async def _check_folder(self, terms: EditTerms) -> None:
        """Refuse a project that is not there: its files would be made with all that is above."""
        if terms.project and not await self._reach.files.is_folder(terms.project):
            message = f"there is no folder {terms.project}"
            raise ArgumentsRefused.of(Problem("project", message))

    def _store(self, words: str, terms: EditTerms) -> ScopeStore:
        around = self._around(terms.project)
        ref = self._reach.registry.scope_ref_of(words, around.project)
        return (
            YardScopeStore(ref, self._own)
            if ref.client.id == YARD
            else FileScopeStore.of(ref, around)
        )

    def _around(self, project: str | None) -> ClientFolders:
        own = str(self._own.project) if self._own.project else ""
        return replace(self._reach.around, project=own if project is None else project)


def matrix_of(word: str) -> Matrix:
    """A table by its word."""
    if word not in {*Matrix}:
        expected = ", ".join(Matrix)
        raise ArgumentsRefused.of(
            Problem("matrix", f'"{word[:40]}" is unknown; expected {expected}')
        )
    return Matrix(word)


def words_of(client: str, scope: str | None) -> str:
    """The words of a client and a scope that were given apart."""
    return f"{client}:{scope}" if scope else client
