"""One scope of the yard, as other clients have theirs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.errors import NameRefused, NameTaken, Problem
from mcpyard.domain.model import Config, Scope
from mcpyard.formats import mcp_json
from mcpyard.formats.entries import Entry, spell
from mcpyard.formats.entry_list import nobody
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.naming import name_fault
from mcpyard.formats.transport_change import without_other_side
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.scope_store import FileScopeStore
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
    entry_of,
    policy_of,
    whole_of,
    yards_own,
)
from mcpyard.yard.masking import literal_secrets


@dataclass(frozen=True, slots=True)
class YardScopeStore:
    """One scope of the yard (see `FileScopeStore`)."""

    ref: ClientScopeRef
    own: OwnServers

    @property
    def scope(self) -> Scope:
        """The scope."""
        return Scope(self.ref.scope.name)

    @property
    def paths(self) -> tuple[str, ...]:
        """Its documents."""
        path = self.own.path(self.scope)
        return (path,) if self.scope is Scope.USER else (path, PROJECT_DOCUMENT)

    def place(self, workspace: Workspace, name: str) -> str:
        """Its document."""
        del workspace, name
        return self.own.path(self.scope)

    def entry(self, workspace: Workspace, name: str) -> tuple[Entry, ClientScopeRef]:
        """What a server says."""
        return entry_of(self._config(workspace, name), self.ref), self.ref

    def file_ref(self, workspace: Workspace, name: str) -> ClientScopeRef:
        """The scope itself."""
        del workspace, name
        return self.ref

    def has(self, workspace: Workspace, name: str) -> bool:
        """Whether there is a server of that name."""
        return name in workspace.own.servers(self.scope)

    def write(
        self, workspace: Workspace, name: str, entry: Entry, *, replace: bool = False
    ) -> None:
        """Add, change or replace a server; its policy stays."""
        del replace
        present = workspace.own.servers(self.scope).get(name)
        if present is None:
            self._check_new(workspace, name)
        else:
            entry, warnings = without_other_side(entry_of(present, self.ref), entry, self.ref.shape)
            workspace.warn(*warnings)
        extra = yards_own(present) if present else {}
        config = read_definition({**spell(entry, self.ref.shape), **extra}).config
        definition = whole_of(config)
        with within(self.place(workspace, name)):
            if not (present is None and self._add(workspace, name, config)):
                self._edit(workspace, lambda text: mcp_json.put(text, name, config))
        stored = definition if self.scope is Scope.USER else policy_of(definition)
        workspace.say_of(self._made_up, name, stored)
        workspace.actions.append(OwnPut(self.scope, name, definition))
        if self.scope is Scope.PROJECT:
            secrets = literal_secrets(config)
            workspace.warn(
                *(Warned(WarningKind.INFO, each.field, "", each.message) for each in secrets)
            )

    def remove(self, workspace: Workspace, name: str) -> None:
        """Take a server out."""
        self._config(workspace, name)
        self._edit(workspace, lambda text: mcp_json.remove(text, name))
        workspace.say_of(self._made_up, name, {})
        workspace.actions.append(OwnRemove(self.scope, name))

    def rename(self, workspace: Workspace, name: str, new_name: str) -> None:
        """Give a server another name."""
        self._config(workspace, name)
        if self.has(workspace, new_name):
            raise NameTaken(f'a server "{new_name}" already exists in {self.ref}')
        self._edit(workspace, lambda text: mcp_json.rename(text, name, new_name))
        servers = workspace.own_servers(self._made_up).items()
        workspace.say(
            self._made_up,
            {new_name if each == name else each: definition for each, definition in servers},
        )
        workspace.actions.append(OwnRename(self.scope, name, new_name))

    def switch(self, workspace: Workspace, name: str, *, enabled: bool) -> None:
        """Let a server run, or not."""
        self._config(workspace, name)
        servers = workspace.own_servers(self._made_up)
        document = {**servers, name: {**servers.get(name, {}), "enabled": enabled}}
        workspace.say(self._made_up, document)
        workspace.actions.append(OwnSwitch(self.scope, name, enabled))

    def _config(self, workspace: Workspace, name: str) -> Config:
        config = workspace.own.servers(self.scope).get(name)
        if config is None:
            raise nobody(name, self.ref)
        return config

    def _check_new(self, workspace: Workspace, name: str) -> None:
        if fault := name_fault(self.ref.client, name):
            raise NameRefused.of(Problem("name", fault))
        if holder := workspace.own.named(name):
            raise NameTaken(f'the name "{name}" is in use ({YARD}:{holder.owner.scope})')

    def _add(self, workspace: Workspace, name: str, config: Config) -> bool:
        """Add a server to the project's file, if it has none of that name."""
        path = self.own.path(self.scope)
        return self.scope is Scope.PROJECT and workspace.add_own(path, name, config)

    def _edit(self, workspace: Workspace, edit: Callable[[str], str]) -> None:
        """Edit the project's file; the user's document is made up anew instead."""
        if self.scope is Scope.PROJECT:
            path = self.own.path(self.scope)
            workspace.put_own(path, edit(workspace.text(path)))

    @property
    def _made_up(self) -> str:
        return USER_DOCUMENT if self.scope is Scope.USER else PROJECT_DOCUMENT


ScopeStore: TypeAlias = FileScopeStore | YardScopeStore
"""Where a server is, or is to be: one scope of one client."""
