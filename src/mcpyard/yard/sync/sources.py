"""What a sync follows from: the files that say what to sync, and the clients that are found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from mcpyard.domain.definition.approval import Entries
from mcpyard.domain.errors import ArgumentsRefused, Problem, ReadOnlyOwner
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.repositories import Approvals, OwnedEntries
from mcpyard.domain.sync.plan import EntryKey
from mcpyard.formats.facts import PROJECT
from mcpyard.formats.locations import ClientFolders, ClientScopeRef
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.transaction import ClientReach
from mcpyard.yard.clients.workspace import broken
from mcpyard.yard.clients.yard_scope import USER_DOCUMENT, YARD, OwnServers
from mcpyard.yard.name_patterns import fits, pattern_of
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.sync.layers import ProfileServers, SourceLayer
from mcpyard.yard.sync.source_file import (
    FILE_NAME,
    SourceFile,
    SyncTarget,
    is_of_project,
    read_source,
    target_of,
)
from mcpyard.yard.sync.syncing import SyncDecision

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
        everywhere: Whether to look at every program that is found; one that no file names is to
            have what an earlier sync wrote there.
    """

    targets: tuple[str, ...] = ()
    command: tuple[str, ...] = ("mcpyard", "stdio")
    decisions: Mapping[tuple[str, str], SyncDecision] = field(
        default_factory=dict[tuple[str, str], SyncDecision]
    )
    check: bool = False
    automatic: bool = False
    everywhere: bool = False


class SyncSources:
    """The sources of a sync on one machine."""

    def __init__(self, reach: ClientReach, own: OwnServers, profiles: ProfileBook) -> None:
        self._reach = reach
        self._own = own
        self._profiles = profiles

    @property
    def owned(self) -> OwnedEntries:
        """What earlier syncs wrote.

        Raises:
            ReadOnlyOwner: This instance cannot sync.
        """
        if self._reach.owned is None:
            raise ReadOnlyOwner("this mcpyard instance cannot sync")
        return self._reach.owned

    @property
    def approvals(self) -> Approvals:
        """What was approved of repositories.

        Raises:
            ReadOnlyOwner: This instance cannot sync.
        """
        if self._reach.approvals is None:
            raise ReadOnlyOwner("this mcpyard instance cannot sync")
        return self._reach.approvals

    @property
    def user_path(self) -> str:
        """The file in the home of mcpyard that has the targets of the user.

        Raises:
            ReadOnlyOwner: This instance has no home.
        """
        if not self._reach.home:
            raise ReadOnlyOwner("this mcpyard instance has no home")
        return _path(self._reach.home)

    def around(self, terms: EditTerms) -> ClientFolders:
        """What decides where the files of programs are."""
        return replace(self._reach.around, project=self.project(terms))

    def project(self, terms: EditTerms) -> str:
        """The folder that a sync is looked at from; empty for none."""
        if terms.project is not None:
            return terms.project
        return str(self._own.project) if self._own.project else ""

    async def layers(self, request: SyncRequest, terms: EditTerms) -> tuple[SourceLayer, ...]:
        """The sources with their targets, that of the user first.

        Raises:
            DocumentBroken: A file that says what to sync cannot be used; with each line.
            ArgumentsRefused: No program is named anywhere.
        """
        project = self.project(terms)
        if terms.project and not await self._reach.files.is_folder(terms.project):
            raise ArgumentsRefused.of(Problem("project", f"there is no folder {terms.project}"))
        mine, shared = await self.user_file(project), await self.project_file(project)
        declared = [*mine.targets, *shared.targets]
        added = [
            target
            for target in (self.target(words, project) for words in request.targets)
            if not self._names(target, declared, request.targets)
        ]
        targets = [*mine.targets, *added]
        if request.everywhere:
            targets += await self.found_targets([*declared, *added], self.around(terms))
            targets = self._ordered(targets)
        user = SourceLayer(Scope.USER, USER_DOCUMENT, None, tuple(targets), request.command)
        repository = await self._repository(shared, request, self.around(terms))
        layers = tuple(each for each in (user, repository) if each.targets)
        if not layers and not request.everywhere:
            raise ArgumentsRefused.of(Problem("to", _NO_TARGETS)).advising(_CHOOSE)
        return layers

    async def user_file(self, project: str) -> SourceFile:
        """The targets of the user."""
        return await self._file(self._reach.home, Scope.USER, project)

    def read_user(self, text: str, project: str) -> SourceFile:
        """The targets in a text of the user's file."""
        return self._read(text, self.user_path, Scope.USER, project)

    async def project_file(self, project: str) -> SourceFile:
        """The servers and targets of a repository."""
        return await self._file(project, Scope.PROJECT, project)

    async def found_targets(
        self, declared: list[SyncTarget], around: ClientFolders
    ) -> list[SyncTarget]:
        """The scopes of the user that are found and not named, with what a sync wrote there.

        A place that several programs share is found once.
        """
        stores = [FileScopeStore.of(ref, around) for ref in self._user_scopes()]
        taken = [FileScopeStore.of(target.ref, around) for target in declared]
        paths = [path for store in (*stores, *taken) for path in store.candidates]
        texts, real = await self._reach.files.read(paths), await self._reach.files.real(paths)
        places = {place for store in taken for place in _places(store, real)}
        everything, targets = await self.owned.all(), list[SyncTarget]()
        owned = [key for key, it in everything.items() if not it.written.source]
        for store in stores:
            own_places = _places(store, real)
            there = any(
                texts[path].text is not None or texts[path].fault for path in store.candidates
            )
            if there and not places & own_places:
                places |= own_places
                targets.append(SyncTarget(store.ref, _names_at(own_places, owned)))
        return targets

    def target(self, words: str, project: str = "") -> SyncTarget:
        """A target by its words."""
        return target_of(words, project, registry=self._reach.registry)

    def selected(
        self, request: SyncRequest, layers: tuple[SourceLayer, ...], project: str
    ) -> frozenset[str] | None:
        """The targets that were named, by their words; None for all."""
        if not request.targets:
            return None
        full = {str(self.target(words, project).ref) for words in request.targets if ":" in words}
        alone = {self.target(each).ref.client.id for each in request.targets if ":" not in each}
        return frozenset(
            it.words
            for layer in layers
            for it in layer.targets
            if it.words in full or it.ref.client.id in alone
        )

    def shows(self, targets: Iterable[SyncTarget]) -> ProfileServers:
        """Which servers profiles show, looked up before the operation is worked out."""
        profiles = self.profiles(targets)
        ids = {str(each.id): each.name for each in self._own.picture().desired.servers.values()}

        def shows(profile: str, configs: Mapping[str, Config]) -> set[str]:
            patterns = [ids.get(each, each) for each in profiles[profile]]
            return {name for name in configs if any(fits(name, each) for each in patterns)}

        return shows

    def profiles(self, targets: Iterable[SyncTarget]) -> dict[str, tuple[str, ...]]:
        """What the profiles of targets name."""
        names = {target.profile for target in targets if target.profile}
        return {name: tuple(self._profiles.get(name).servers) for name in names}

    async def approval_key(self, path: str) -> str:
        """What an approval of a repository's file is kept under."""
        return (await self._reach.files.real([path]))[path]

    def approved(self, key: str) -> Entries:
        """What was approved of a repository's file."""
        approval = self.approvals.all().get(key) if key else None
        return approval.entries or {} if approval else {}

    async def _repository(
        self, shared: SourceFile, request: SyncRequest, around: ClientFolders
    ) -> SourceLayer:
        key = await self.approval_key(shared.path) if shared.targets else ""
        return SourceLayer(
            Scope.PROJECT,
            shared.path,
            shared.configs,
            shared.targets,
            request.command,
            self.approved(key),
            strict=request.automatic,
            source=key,
            outside=await self._outside(shared.targets, around),
        )

    async def _outside(
        self, targets: Iterable[SyncTarget], around: ClientFolders
    ) -> dict[str, str]:
        """Where targets lead, by their words, whose files are behind links out of the project."""
        stores = {
            each.words: FileScopeStore.of(each.ref, around)
            for each in targets
            if is_of_project(each.ref)
        }
        paths = {path for store in stores.values() for path in store.candidates}
        real = await self._reach.files.real([*paths, around.project])
        folder = f"{real[around.project].rstrip('/')}/"
        return {
            words: real[path]
            for words, store in stores.items()
            for path in store.candidates
            if not real[path].startswith(folder)
        }

    async def _file(self, folder: str, scope: Scope, project: str) -> SourceFile:
        path = _path(folder)
        if not folder:
            return SourceFile(path)
        text = (await self._reach.files.read([path], fresh=True))[path]
        if text.fault:
            raise broken(text.fault)
        return (
            SourceFile(path) if text.text is None else self._read(text.text, path, scope, project)
        )

    def _read(self, text: str, path: str, scope: Scope, project: str) -> SourceFile:
        return read_source(text, path, scope, project, self._reach.registry)

    def _names(
        self, target: SyncTarget, declared: list[SyncTarget], words: tuple[str, ...]
    ) -> bool:
        """Whether a named target is among those of files; a program alone names them all."""
        alone = any(
            ":" not in each and self.target(each).ref.client == target.ref.client for each in words
        )
        return any(
            it.words == target.words or (alone and it.ref.client == target.ref.client)
            for it in declared
        )

    def _ordered(self, targets: list[SyncTarget]) -> list[SyncTarget]:
        """Targets in the order of clients, which stays when another one is named."""
        order = {client.id: number for number, client in enumerate(self._reach.registry.clients)}
        return sorted(targets, key=lambda it: order[it.ref.client.id])

    def _user_scopes(self) -> list[ClientScopeRef]:
        refs = [
            ClientScopeRef(client, scope)
            for client in self._reach.registry.clients
            for scope in client.scopes
            if client.id != YARD and scope.location
        ]
        return [ref for ref in refs if not depends_on_project(ref)]


def depends_on_project(ref: ClientScopeRef) -> bool:
    """Whether a scope is another one in each project."""
    return is_of_project(ref) or PROJECT in ref.scope.above


def _path(folder: str) -> str:
    return f"{folder.rstrip('/')}/{FILE_NAME}"


def _places(store: FileScopeStore, real: Mapping[str, str]) -> set[tuple[str, tuple[str, ...]]]:
    """Where the entries of a scope can be: the real files, and the keys."""
    ref = store.ref
    return {
        (real.get(path, path), (*ref.above, *shape.keys))
        for path in store.candidates
        for shape in ref.client.shapes
    }


def _names_at(places: set[tuple[str, tuple[str, ...]]], owned: list[EntryKey]) -> tuple[str, ...]:
    return tuple(sorted({pattern_of(key.name) for key in owned if (key.path, key.keys) in places}))
