"""One scope of the yard, as other clients have theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import NameRefused, NameTaken, Problem
from mcpyard.domain.model import Config, Scope
from mcpyard.formats import mcp_json
from mcpyard.formats.entries import Entry, spell
from mcpyard.formats.entry_list import nobody
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.naming import name_fault
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.workspace import (
    OwnPut,
    OwnRemove,
    OwnRename,
    OwnSwitch,
    Workspace,
    within,
)
from mcpyard.yard.clients.yard_scope import (
    PROJECT_DOCUMENT,
    USER_DOCUMENT,
    YARD,
    OwnServers,
)
from mcpyard.yard.clients.yard_scope_documents import (
    Plain,
    entry_of,
    policy_of,
    whole_of,
    yards_own,
)
from mcpyard.yard.edit import literal_secrets


@dataclass(frozen=True, slots=True)
class YardScopeStore:
    """One scope of the yard (see `ScopeStore`)."""

    spot: ClientScopeRef
    own: OwnServers

    @property
    def scope(self) -> Scope:
        """The scope."""
        return Scope(self.spot.scope.name)

    @property
    def paths(self) -> tuple[str, ...]:
        """Its documents."""
        path = self.own.path(self.scope)
        return (path,) if self.scope is Scope.USER else (path, PROJECT_DOCUMENT)

    def place(self, desk: Workspace, name: str) -> str:
        """Its document."""
        del desk, name
        return self.own.path(self.scope)

    def entry(self, desk: Workspace, name: str) -> tuple[Entry, ClientScopeRef]:
        """What a server says."""
        return entry_of(self._config(desk, name), self.spot), self.spot

    def found(self, desk: Workspace, name: str) -> ClientScopeRef:
        """The spot."""
        del desk, name
        return self.spot

    def has(self, desk: Workspace, name: str) -> bool:
        """Whether there is a server of that name."""
        return name in desk.own.servers(self.scope)

    def write(self, desk: Workspace, name: str, entry: Entry) -> None:
        """Add or change a server."""
        present = desk.own.servers(self.scope).get(name)
        if present is None:
            self._check_new(desk, name)
        kept = yards_own(present) if present else {}
        config = read_definition({**spell(entry, self.spot.shape), **kept}).config
        definition = whole_of(config)
        with within(self.place(desk, name)):
            self._edit(desk, lambda text: mcp_json.put(text, name, config))
        said = definition if self.scope is Scope.USER else policy_of(definition)
        self._say(desk, self._others(desk, name) | ({name: said} if said else {}))
        desk.actions.append(OwnPut(self.scope, name, definition))
        if self.scope is Scope.PROJECT:
            desk.tell(*map(_told, literal_secrets(config)))

    def remove(self, desk: Workspace, name: str) -> None:
        """Take a server out."""
        self._config(desk, name)
        self._edit(desk, lambda text: mcp_json.remove(text, name))
        self._say(desk, self._others(desk, name))
        desk.actions.append(OwnRemove(self.scope, name))

    def rename(self, desk: Workspace, name: str, new_name: str) -> None:
        """Give a server another name."""
        self._config(desk, name)
        if self.has(desk, new_name):
            raise NameTaken(f'a server "{new_name}" already exists in {self.spot}')
        self._edit(desk, lambda text: mcp_json.rename(text, name, new_name))
        said = desk.said(self._made_up).items()
        self._say(desk, {new_name if each == name else each: told for each, told in said})
        desk.actions.append(OwnRename(self.scope, name, new_name))

    def switch(self, desk: Workspace, name: str, *, enabled: bool) -> None:
        """Let a server run, or not."""
        self._config(desk, name)
        said = desk.said(self._made_up)
        self._say(desk, {**said, name: {**said.get(name, {}), "enabled": enabled}})
        desk.actions.append(OwnSwitch(self.scope, name, enabled))

    def _config(self, desk: Workspace, name: str) -> Config:
        found = desk.own.servers(self.scope).get(name)
        if found is None:
            raise nobody(name, self.spot)
        return found

    def _check_new(self, desk: Workspace, name: str) -> None:
        if fault := name_fault(self.spot.client, name):
            raise NameRefused.of(Problem("name", fault))
        if holder := desk.own.named(name):
            raise NameTaken(f'the name "{name}" is in use ({YARD}:{holder.owner.scope})')

    def _edit(self, desk: Workspace, edit: Callable[[str], str]) -> None:
        """Edit the project's file; the user's document is made up anew instead."""
        if self.scope is Scope.PROJECT:
            path = self.own.path(self.scope)
            desk.put_own(path, edit(desk.text(path)))

    @property
    def _made_up(self) -> str:
        return USER_DOCUMENT if self.scope is Scope.USER else PROJECT_DOCUMENT

    def _others(self, desk: Workspace, name: str) -> dict[str, Plain]:
        """What the document that is made up says by now of all servers but one."""
        said = desk.said(self._made_up).items()
        return {each: told for each, told in said if each != name}

    def _say(self, desk: Workspace, servers: Mapping[str, Plain]) -> None:
        """Let the document that is made up say what it will."""
        desk.say(self._made_up, servers)


def _told(problem: Problem) -> Warned:
    return Warned(WarningKind.INFO, problem.field, "", problem.message)
