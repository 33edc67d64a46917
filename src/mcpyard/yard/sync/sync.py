"""One set of servers in every program: planned, applied as one edit, adopted, approved."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mcpyard.domain.definition.approval import ApprovedEntry, Entries, digest_of
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import Definition, Owner, Waiting
from mcpyard.domain.errors import ApprovalOutdated, ArgumentsRefused, Problem, ReadOnlyOwner
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import Approvals, OwnedEntries
from mcpyard.domain.stored import Approval
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.operations import Operation
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.transaction import ClientReach, EditTransaction, done
from mcpyard.yard.clients.verified import unverified_warnings
from mcpyard.yard.clients.workspace import Workspace, broken
from mcpyard.yard.clients.yard_scope import USER_DOCUMENT, OwnServers
from mcpyard.yard.clients.yard_scope_store import YardScopeStore
from mcpyard.yard.consent import waiting_view
from mcpyard.yard.name_patterns import fits
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.sync.collecting import Collecting
from mcpyard.yard.sync.layers import OURS, ProfileServers, SourceLayer, approval_name
from mcpyard.yard.sync.presenting import sync_view
from mcpyard.yard.sync.source_file import (
    FILE_NAME,
    SourceFile,
    SyncTarget,
    read_source,
    target_of,
)
from mcpyard.yard.sync.syncing import SyncDecision, Syncing, TargetColumn
from mcpyard.yard.views.approvals import ApprovedView, WaitingFolderView
from mcpyard.yard.views.sync import AdoptionView, SyncView

_PLAIN = EditTerms()
_NO_TARGETS = "names no program; say which are to have the servers"
_CHOOSE = "Name them with --to claude,codex, or under [targets] in mcpyard.toml."


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """What to sync.

    Attributes:
        targets: The programs, such as `codex` or `claude:project`; empty for all that files name.
        command: The command of the gateway, for programs that are to have that instead.
        decisions: What a person chose, by the words of a target and a name.
        check: Whether to compare alone, without regard to who wrote what.
        automatic: Whether nobody sees the plan: then everything of a repository needs approval.
    """

    targets: tuple[str, ...] = ()
    command: tuple[str, ...] = ("mcpyard", "stdio")
    decisions: Mapping[tuple[str, str], SyncDecision] = field(
        default_factory=dict[tuple[str, str], SyncDecision]
    )
    check: bool = False
    automatic: bool = False


_ALL = SyncRequest()


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
        self._profiles = profiles
        self._identity = identity
        self._transaction = EditTransaction(reach, own, clock)

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
        layers = await self._layers(request, terms)
        syncing = await self._operation(request, layers, terms)
        operation = Collecting(syncing, chosen, self._identity)
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
            key = await self._approval_key(path)
            entries = {**self._approved(key), **fresh}
            await self._approvals.set(Approval(key, self._clock.now(), entries))
        return ApprovedView(folder=path, servers=[*fresh], waiting=[])

    async def _sync(self, request: SyncRequest, terms: EditTerms) -> SyncView:
        layers = await self._layers(request, terms)
        operation = await self._operation(request, layers, terms)
        workspace, edit = await self._do(operation, "sync", terms)
        finished = await done(workspace, edit, show_secrets=terms.show_secrets)
        applied = not terms.dry_run
        return sync_view(operation, layers, finished, check=request.check, applied=applied)

    async def _do(
        self, operation: Operation, kind: str, terms: EditTerms
    ) -> tuple[Workspace, int | None]:
        written = (store.ref for store in operation.written)
        unverified_warnings(written, confirmed=terms.unverified or terms.dry_run)
        if terms.dry_run:
            return await self._transaction.look(operation), None
        workspace, edit = await self._transaction.carry_out(operation, kind, terms.who)
        if edit is None and workspace.claims:
            await self._owned.claim(workspace.claims)
        return workspace, edit

    async def _operation(
        self, request: SyncRequest, layers: tuple[SourceLayer, ...], terms: EditTerms
    ) -> Syncing:
        around = replace(self._reach.around, project=self._project(terms))
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
            {} if request.check else await self._owned.all(),
            self._shows(layers),
            self._selected(request, columns, around.project),
            request.decisions,
        )

    async def _layers(self, request: SyncRequest, terms: EditTerms) -> tuple[SourceLayer, ...]:
        """The sources, that of the user first."""
        project = self._project(terms)
        if terms.project and not await self._reach.files.is_folder(terms.project):
            raise ArgumentsRefused.of(Problem("project", f"there is no folder {terms.project}"))
        mine = await self._file(self._reach.home, Scope.USER, project)
        shared = await self._file(project, Scope.PROJECT, project)
        declared = [*mine.targets, *shared.targets]
        added = [
            target
            for target in (self._target(words, project) for words in request.targets)
            if not self._names(target, declared, request.targets)
        ]
        user = SourceLayer(
            Scope.USER, USER_DOCUMENT, None, (*mine.targets, *added), request.command
        )
        key = await self._approval_key(shared.path) if shared.targets else ""
        repository = SourceLayer(
            Scope.PROJECT,
            shared.path,
            {name: each.config for name, each in shared.definitions.items()},
            shared.targets,
            request.command,
            self._approved(key),
            strict=request.automatic,
        )
        layers = tuple(each for each in (user, repository) if each.targets)
        if not layers:
            raise ArgumentsRefused.of(Problem("to", _NO_TARGETS)).advising(_CHOOSE)
        return layers

    async def _file(self, folder: str, scope: Scope, project: str) -> SourceFile:
        path = f"{folder.rstrip('/')}/{FILE_NAME}"
        if not folder:
            return SourceFile(path)
        text = (await self._reach.files.read([path], fresh=True))[path]
        if text.fault:
            raise broken(text.fault)
        return (
            SourceFile(path)
            if text.text is None
            else read_source(text.text, path, scope, project, self._reach.registry)
        )

    async def _waiting(self, terms: EditTerms) -> tuple[str, list[Waiting]]:
        project = self._project(terms)
        shared = await self._file(project, Scope.PROJECT, project)
        configs = {name: each.config for name, each in shared.definitions.items()}
        layer = SourceLayer(Scope.PROJECT, shared.path, configs, shared.targets)
        approved = self._approved(await self._approval_key(shared.path))
        owner, waiting = Owner(Scope.PROJECT, shared.path), list[Waiting]()
        for target in shared.targets:
            for name, config in layer.configs_for(target, {}, self._shows((layer,))).items():
                word = approval_name(target, name)
                earlier = approved.get(word)
                if earlier is None or not earlier.covers(config):
                    before = earlier.config if earlier else None
                    waiting.append(Waiting(owner, Definition(word, config), before))
        return shared.path, waiting

    async def _approval_key(self, path: str) -> str:
        return (await self._reach.files.real([path]))[path]

    def _approved(self, key: str) -> Entries:
        approval = self._approvals.all().get(key) if key else None
        return approval.entries or {} if approval else {}

    def _shows(self, layers: tuple[SourceLayer, ...]) -> ProfileServers:
        """Which servers profiles show, looked up before the operation is worked out."""
        names = {target.profile for layer in layers for target in layer.targets if target.profile}
        profiles = {name: self._profiles.get(name).servers for name in names}
        ids = {str(each.id): each.name for each in self._own.picture().desired.servers.values()}

        def shows(profile: str, configs: Mapping[str, Config]) -> set[str]:
            patterns = [ids.get(each, each) for each in profiles[profile]]
            return {name for name in configs if any(fits(name, each) for each in patterns)}

        return shows

    def _project(self, terms: EditTerms) -> str:
        if terms.project is not None:
            return terms.project
        return str(self._own.project) if self._own.project else ""

    def _target(self, words: str, project: str = "") -> SyncTarget:
        return target_of(words, project, registry=self._reach.registry)

    def _names(
        self, target: SyncTarget, declared: list[SyncTarget], words: tuple[str, ...]
    ) -> bool:
        """Whether a named target is among those of files; a program alone names them all."""
        alone = any(
            ":" not in each and self._target(each).ref.client == target.ref.client for each in words
        )
        return any(
            it.words == target.words or (alone and it.ref.client == target.ref.client)
            for it in declared
        )

    def _selected(
        self, request: SyncRequest, columns: tuple[TargetColumn, ...], project: str
    ) -> frozenset[str] | None:
        """The targets that were named, by their words; None for all."""
        if not request.targets:
            return None
        full = {str(self._target(words, project).ref) for words in request.targets if ":" in words}
        alone = {self._target(each).ref.client.id for each in request.targets if ":" not in each}
        return frozenset(
            it.target.words
            for it in columns
            if it.target.words in full or it.target.ref.client.id in alone
        )

    @property
    def _owned(self) -> OwnedEntries:
        if self._reach.owned is None:
            raise ReadOnlyOwner("this mcpyard instance cannot sync")
        return self._reach.owned

    @property
    def _approvals(self) -> Approvals:
        if self._reach.approvals is None:
            raise ReadOnlyOwner("this mcpyard instance cannot sync")
        return self._reach.approvals
