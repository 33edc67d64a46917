"""Which servers the user wants where: the targets of `mcpyard.toml` in the home of mcpyard.

Commands and the page share this file. To assign a server to a program is to change the lists of
one target in it, and no file of the program. What lists cannot say of one name, such as an
exception to a pattern, is refused with the reason; so is what the file of a repository decides.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcpyard.domain.errors import ArgumentsRefused, EditRefused, Problem
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.narrowing import object_of
from mcpyard.formats.editors import toml
from mcpyard.yard.clients.workspace import Workspace, within
from mcpyard.yard.clients.yard_scope_store import ScopeStore
from mcpyard.yard.name_patterns import fits, pattern_of
from mcpyard.yard.sync.layers import ProfileServers, SourceLayer
from mcpyard.yard.sync.source_file import SyncTarget
from mcpyard.yard.sync.sources import SyncSources, depends_on_project
from mcpyard.yard.sync.syncing import SourceDocument
from mcpyard.yard.views.sync import SyncAssignmentView


@dataclass(frozen=True, slots=True)
class Assignment:
    """That a target, such as `codex:user`, is to have a server, or not."""

    server: str
    target: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class Assigning:
    """A request to change assignments: an operation on the text of the user's file.

    Attributes:
        path: The file.
        assignments: What is to be changed.
        unnamed: The targets that it does not name, with what a sync wrote there.
        own: The servers of the user.
        sources: What else is known of targets.
        project: The folder that they are seen from.
    """

    path: str
    assignments: Sequence[Assignment]
    unnamed: Mapping[str, SyncTarget]
    own: Mapping[str, Config]
    sources: SyncSources
    project: str
    written: tuple[ScopeStore, ...] = field(default=(), init=False)

    @property
    def stores(self) -> tuple[SourceDocument, ...]:
        """Where something is read or changes."""
        return (SourceDocument((self.path,)),)

    def do(self, workspace: Workspace) -> None:
        """Change the lists of the targets."""
        for number, assignment in enumerate(self.assignments):
            if assignment.wanted and assignment.server not in self.own:
                message = f'there is no server "{assignment.server[:80]}" in mcpyard'
                raise ArgumentsRefused.of(Problem(f"assignments[{number}].server", message))
        self.add(workspace, self.assignments)

    def add(self, workspace: Workspace, assignments: Sequence[Assignment]) -> None:
        """Change the lists for assignments that are known to be of the user's servers."""
        text = workspace.text(self.path)
        for assignment in assignments:
            text = self._with(text, assignment)
        workspace.put(self.path, text)

    def _with(self, text: str, assignment: Assignment) -> str:
        target = self._target(text, assignment.target)
        in_profile = _is_in_profile(
            target, assignment.server, self.own, self.sources.shows([target])
        )
        changed = with_assignment(
            target, assignment.server, assigned=assignment.wanted, in_profile=in_profile
        )
        path = ("targets", target.key or target.words)
        document = object_of(object_of(toml.parse(text).value.get(path[0])).get(path[1]))
        table = {word: each for word, each in document.items() if word not in {"only", "except"}}
        if changed.only is not None:
            # What a sync wrote of servers that are gone is no assignment.
            current = {*map(pattern_of, (*self.own, assignment.server))}
            table["only"] = [it for it in changed.only if target.key or it in current]
        if changed.excluded:
            table["except"] = [*changed.excluded]
        with within(self.path):
            return toml.put_table(text, path, table)

    def _target(self, text: str, words: str) -> SyncTarget:
        plain = self.sources.target(words, self.project)
        for declared in self.sources.read_user(text, self.project).targets:
            if declared.words == plain.words:
                return declared
        if depends_on_project(plain.ref):
            message = f"{plain.words} is of a project: name it in the mcpyard.toml of the project"
            raise ArgumentsRefused.of(Problem("target", message))
        return self.unnamed.get(plain.words) or replace(plain, only=())


def with_assignment(
    target: SyncTarget, name: str, *, assigned: bool, in_profile: bool = True
) -> SyncTarget:
    """A target whose lists say that it is to have a server, or not.

    Args:
        target: The target.
        name: The server.
        assigned: Whether it is to have it.
        in_profile: Whether its profile has the server, if it has a profile.

    Raises:
        EditRefused: Its lists cannot say that of this name alone.
    """
    if target.gateway:
        raise _refused(f"{target.words} has the gateway instead of the servers")
    pattern = pattern_of(name)
    excluded = tuple(each for each in target.excluded if each not in {name, pattern})
    listed = target.only is None or any(fits(name, each) for each in target.only)
    if assigned:
        if not in_profile:
            raise _refused(f'the profile "{target.profile}" decides')
        if blocking := next((each for each in excluded if fits(name, each)), None):
            raise _refused(f'"{blocking}" under except leaves it out')
        only = target.only if listed else (*(target.only or ()), pattern)
        return replace(target, only=only, excluded=excluded)
    only = target.only and tuple(each for each in target.only if each not in {name, pattern})
    if only is None or any(fits(name, each) for each in only):
        excluded = (*excluded, pattern)
    return replace(target, only=only, excluded=excluded)


def assignment_views(
    layers: tuple[SourceLayer, ...],
    own: Mapping[str, Config],
    shows: ProfileServers,
    user_path: str,
) -> list[SyncAssignmentView]:
    """Every assignment that there is, or could be, by target and server."""
    listing = _AssignmentListing({each.scope: each for each in layers}, own, shows, user_path)
    words = dict.fromkeys(target.words for layer in layers for target in layer.targets)
    return [view for each in words for view in listing.at(each)]


@dataclass(frozen=True, slots=True)
class _AssignmentListing:
    """Lists assignments; those of the user count before those of a repository."""

    layers: Mapping[Scope, SourceLayer]
    own: Mapping[str, Config]
    shows: ProfileServers
    user_path: str

    def at(self, words: str) -> Iterator[SyncAssignmentView]:
        """The assignments about one target."""
        by_user, by_file = (self._wanted(each, words) for each in (Scope.USER, Scope.PROJECT))
        target, layer = self._target(Scope.USER, words), self.layers.get(Scope.PROJECT)
        if target:
            for name in dict.fromkeys([*self.own, *by_user]):
                if name in by_user or name not in by_file:
                    yield self._of_user(target, name, assigned=name in by_user)
        if layer and self._target(Scope.PROJECT, words):
            mine = {*by_user, *(self.own if target else ())} - ({*by_file} - {*by_user})
            for name in dict.fromkeys([*(layer.configs or ()), *by_file]):
                if name not in mine:
                    yield SyncAssignmentView(
                        server=name,
                        target=words,
                        wanted=name in by_file,
                        source=Scope.PROJECT,
                        file=layer.path,
                        locked=f"decided by {layer.path}",
                    )

    def _of_user(self, target: SyncTarget, name: str, *, assigned: bool) -> SyncAssignmentView:
        in_profile = _is_in_profile(target, name, self.own, self.shows)
        return SyncAssignmentView(
            server=name,
            target=target.words,
            wanted=assigned,
            source=Scope.USER,
            file=self.user_path,
            locked=_locked(target, name, assigned=assigned, in_profile=in_profile),
        )

    def _wanted(self, scope: Scope, words: str) -> Mapping[str, Config]:
        target = self._target(scope, words)
        return self.layers[scope].configs_for(target, self.own, self.shows) if target else {}

    def _target(self, scope: Scope, words: str) -> SyncTarget | None:
        layer = self.layers.get(scope)
        return next((it for it in (layer.targets if layer else ()) if it.words == words), None)


def _locked(target: SyncTarget, name: str, *, assigned: bool, in_profile: bool) -> str:
    """Why a assignment cannot be turned round; empty where it can."""
    try:
        with_assignment(target, name, assigned=not assigned, in_profile=in_profile)
    except EditRefused as error:
        return error.problems[0].message
    return ""


def _is_in_profile(
    target: SyncTarget, name: str, own: Mapping[str, Config], shows: ProfileServers
) -> bool:
    """Whether the profile of a target has a server, if it has a profile."""
    return target.profile is None or name in shows(target.profile, own)


def _refused(message: str) -> EditRefused:
    return EditRefused.of(Problem("target", message))
