"""One set of servers in every program: planned, applied as one edit, adopted, approved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcpyard.domain.definition.approval import ApprovedEntry, digest_of
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import Definition, Owner, Waiting
from mcpyard.domain.errors import ApprovalOutdated
from mcpyard.domain.model import Scope
from mcpyard.domain.ports import Clock
from mcpyard.domain.stored import Approval
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.clients.operations import Operation
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.transaction import ClientReach, EditTransaction, done
from mcpyard.yard.clients.verified import unverified_warnings
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope import OwnServers
from mcpyard.yard.clients.yard_scope_store import YardScopeStore
from mcpyard.yard.consent import waiting_view
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.sync.assignments import Assigning, Assignment, assignment_views
from mcpyard.yard.sync.collecting import Collecting
from mcpyard.yard.sync.layers import OURS, SourceLayer, approval_name
from mcpyard.yard.sync.presenting import sync_view
from mcpyard.yard.sync.source_file import SyncTarget
from mcpyard.yard.sync.sources import SyncRequest, SyncSources
from mcpyard.yard.sync.syncing import Syncing, TargetColumn
from mcpyard.yard.views.approvals import ApprovedView, WaitingFolderView
from mcpyard.yard.views.sync import AdoptionView, SyncMatrixView, SyncView

_PLAIN = EditTerms()
_ALL = SyncRequest()
_EVERYWHERE = SyncRequest(everywhere=True)


@dataclass(frozen=True, slots=True)
class _EarlierMatrix:
    """A matrix, with all that it followed from."""

    inputs: tuple[object, ...]
    workspace: Workspace
    view: SyncMatrixView


class Sync:
    """Keeps one set of servers in the programs of a machine."""

    def __init__(
        self,
        reach: ClientReach,
        own: OwnServers,
        clock: Clock,
        profiles: ProfileBook,
        identity: Callable[[], SelfIdentity] = SelfIdentity,
    ) -> None:
        self._reach = reach
        self._own = own
        self._clock = clock
        self._sources = SyncSources(reach, own, profiles)
        self._identity = identity
        self._transaction = EditTransaction(reach, own, clock)
        self._earlier: _EarlierMatrix | None = None

    async def plan(self, request: SyncRequest = _ALL, terms: EditTerms = _PLAIN) -> SyncView:
        """What would change, and what keeps anything from changing.

        Raises:
            DocumentBroken: A file that says what to sync cannot be used; with each line.
            ArgumentsRefused: No program is named anywhere.
        """
        return await self._sync(request, replace(terms, dry_run=True))

    async def apply(self, request: SyncRequest = _ALL, terms: EditTerms = _PLAIN) -> SyncView:
        """Change all files that differ, in one edit; what needs a decision is left alone."""
        return await self._sync(request, terms)

    async def matrix(
        self, request: SyncRequest = _EVERYWHERE, terms: EditTerms = _PLAIN
    ) -> SyncMatrixView:
        """The plan for every program that is found, and what is assigned to each.

        Pages ask for it every few seconds, so the last one holds until something changes.
        """
        layers = await self._sources.layers(request, terms)
        operation = await self._operation(request, layers, terms)
        profiles = self._sources.profiles(_targets(layers))
        inputs = (request, layers, operation.real, operation.owned, profiles)
        earlier = self._earlier if self._earlier and self._earlier.inputs == inputs else None
        workspace = await self._look(operation, earlier.workspace if earlier else None)
        if earlier and workspace is earlier.workspace:
            return earlier.view
        plan = sync_view(
            operation, layers, await done(workspace, None), check=request.check, applied=False
        )
        own, path = self._own.picture().servers(Scope.USER), self._sources.user_path
        assignments = assignment_views(layers, own, operation.shows, path)
        view = SyncMatrixView(plan=plan, file=path, assignments=assignments)
        self._earlier = _EarlierMatrix(inputs, workspace, view)
        return view

    async def assign(self, assignments: Sequence[Assignment], terms: EditTerms = _PLAIN) -> Done:
        """Change which programs are to have which servers; no file of a program is written.

        Raises:
            ArgumentsRefused: There is no such server or program, or only another file decides.
            EditRefused: A list cannot say it; it is to be changed by hand.
        """
        operation = await self._assigning(assignments, terms)
        workspace, edit = await self._do(operation, "assign", terms)
        return await done(workspace, edit, show_secrets=terms.show_secrets)

    async def adopt(
        self,
        chosen: Mapping[str, str],
        request: SyncRequest = _ALL,
        terms: EditTerms = _PLAIN,
    ) -> AdoptionView:
        """Take what programs have into the source, which is then what they are to have.

        Args:
            chosen: The program whose entry counts, by the names that several define differently.
            request: The programs.
            terms: How it is asked for.
        """
        layers = await self._sources.layers(request, terms)
        assigning = None
        if request.everywhere:
            # What is taken in is wanted where it was found, whatever lists said before.
            assigning = await self._assigning((), terms)
            layers = tuple(each.for_adoption for each in layers)
        syncing = await self._operation(request, layers, terms)
        operation = Collecting(syncing, chosen, self._identity, assigning)
        workspace, edit = await self._do(operation, "adopt", terms)
        finished = await done(workspace, edit, show_secrets=terms.show_secrets)
        return operation.view(finished)

    async def waiting(self, terms: EditTerms = _PLAIN) -> WaitingFolderView:
        """What of a repository's file needs approval, to be written without a look at the plan."""
        path, waiting = await self._waiting(terms)
        views = [waiting_view(each) for each in waiting]
        return WaitingFolderView(folder=path, digest=digest_of(waiting), servers=views)

    async def approve(self, digest: str, terms: EditTerms = _PLAIN) -> ApprovedView:
        """Approve what was shown of a repository's file.

        Raises:
            ApprovalOutdated: It says something else by now.
        """
        path, waiting = await self._waiting(terms)
        if digest != digest_of(waiting):
            raise ApprovalOutdated(f"{path} was changed after it was displayed")
        fresh = {it.definition.name: ApprovedEntry(it.definition.config) for it in waiting}
        if fresh:
            key = await self._sources.approval_key(path)
            entries = {**self._sources.approved(key), **fresh}
            await self._sources.approvals.set(Approval(key, self._clock.now(), entries))
        return ApprovedView(folder=path, servers=[*fresh], waiting=[])

    async def _sync(self, request: SyncRequest, terms: EditTerms) -> SyncView:
        layers = await self._sources.layers(request, terms)
        operation = await self._operation(request, layers, terms)
        workspace, edit = await self._do(operation, "sync", terms)
        finished = await done(workspace, edit, show_secrets=terms.show_secrets)
        applied = not terms.dry_run
        return sync_view(operation, layers, finished, check=request.check, applied=applied)

    async def _do(
        self, operation: Operation, kind: str, terms: EditTerms
    ) -> tuple[Workspace, int | None]:
        if terms.dry_run:
            return await self._look(operation), None
        unverified = unverified_warnings(_written(operation), confirmed=terms.unverified)
        workspace, edit = await self._transaction.carry_out(operation, kind, terms.who)
        if edit is None and workspace.claims:
            await self._sources.owned.claim(workspace.claims)
        workspace.warn(*unverified)
        return workspace, edit

    async def _look(self, operation: Operation, earlier: Workspace | None = None) -> Workspace:
        workspace = await self._transaction.look(operation, earlier)
        workspace.warn(*unverified_warnings(_written(operation), confirmed=True))
        return workspace

    async def _assigning(self, assignments: Sequence[Assignment], terms: EditTerms) -> Assigning:
        sources, project = self._sources, self._sources.project(terms)
        declared = (await sources.user_file(project)).targets
        shared = (await sources.project_file(project)).targets
        unnamed = await sources.found_targets([*declared, *shared], sources.around(terms))
        return Assigning(
            sources.user_path,
            [*assignments],
            {each.words: each for each in unnamed},
            self._own.picture().servers(Scope.USER),
            sources,
            project,
        )

    async def _operation(
        self, request: SyncRequest, layers: tuple[SourceLayer, ...], terms: EditTerms
    ) -> Syncing:
        around = self._sources.around(terms)
        columns = tuple(
            TargetColumn(layer, target, FileScopeStore.of(target.ref, around))
            for layer in layers
            for target in layer.targets
        )
        paths = {path for each in columns for path in each.store.candidates}
        return Syncing(
            columns,
            YardScopeStore(OURS, self._own),
            await self._reach.files.real(paths),
            {} if request.check else await self._sources.owned.all(),
            self._sources.shows(_targets(layers)),
            self._sources.selected(request, layers, around.project),
            request.decisions,
            check=request.check,
        )

    async def _waiting(self, terms: EditTerms) -> tuple[str, list[Waiting]]:
        sources = self._sources
        shared = await sources.project_file(sources.project(terms))
        layer = SourceLayer(Scope.PROJECT, shared.path, shared.configs, shared.targets)
        approved = sources.approved(await sources.approval_key(shared.path))
        owner, waiting = Owner(Scope.PROJECT, shared.path), list[Waiting]()
        for target in shared.targets:
            for name, config in layer.configs_for(target, {}, sources.shows(layer.targets)).items():
                word = approval_name(target, name)
                earlier = approved.get(word)
                if earlier is None or not earlier.covers(config):
                    before = earlier.config if earlier else None
                    waiting.append(Waiting(owner, Definition(word, config), before))
        return shared.path, waiting


def _written(operation: Operation) -> list[ClientScopeRef]:
    return [store.ref for store in operation.written]


def _targets(layers: tuple[SourceLayer, ...]) -> list[SyncTarget]:
    return [target for layer in layers for target in layer.targets]
