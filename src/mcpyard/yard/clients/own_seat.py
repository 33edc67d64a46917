"""One scope of the yard, as other clients have theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpyard.domain.errors import NameRefused, NameTaken, Problem, ServerUnknown
from mcpyard.domain.model import Scope
from mcpyard.domain.spelling import read_definition
from mcpyard.formats import mcp_json
from mcpyard.formats.entries import Entry, spell
from mcpyard.formats.locating import Spot
from mcpyard.formats.naming import name_fault
from mcpyard.formats.warned import Warned, WarningKind
from mcpyard.yard.clients.desk import Desk, OwnPut, OwnRemove, OwnRename, within
from mcpyard.yard.clients.own import (
    PROJECT_DOCUMENT,
    USER_DOCUMENT,
    YARD,
    OwnServers,
    definition_of,
    document,
    entry_of,
    policy_of,
    servers_of,
)
from mcpyard.yard.edit import literal_secrets


@dataclass(frozen=True, slots=True)
class OwnSeat:
    """One scope of the yard (see `Seat`)."""

    spot: Spot
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

    def place(self, desk: Desk, name: str) -> str:
        """Its document."""
        del desk, name
        return self.own.path(self.scope)

    def entry(self, desk: Desk, name: str) -> tuple[Entry, Spot]:
        """What a server says."""
        del desk
        found = self.own.servers(self.scope).get(name)
        if found is None:
            raise ServerUnknown(f'there is no server "{name[:80]}" in {self.spot}')
        return entry_of(found, self.spot), self.spot

    def found(self, desk: Desk, name: str) -> Spot:
        """The spot."""
        del desk, name
        return self.spot

    def has(self, desk: Desk, name: str) -> bool:
        """Whether there is a server of that name."""
        del desk
        return name in self.own.servers(self.scope)

    def write(self, desk: Desk, name: str, entry: Entry) -> None:
        """Add or change a server."""
        if not self.has(desk, name):
            self._check_new(name)
        definition = spell(entry, self.spot.shape)
        config = read_definition(definition).config
        action = OwnPut(self.scope, name, definition)
        path = self.place(desk, name)
        with within(path):
            text = self._text(desk, path, lambda text: mcp_json.put(text, name, config))
        desk.put_own(path, text, action)
        self._show(desk, {name: definition_of(config)})
        if self.scope is Scope.PROJECT:
            desk.tell(*map(_told, literal_secrets(config)))

    def remove(self, desk: Desk, name: str) -> None:
        """Take a server out."""
        self.entry(desk, name)
        path = self.place(desk, name)
        text = self._text(desk, path, lambda text: mcp_json.remove(text, name))
        desk.put_own(path, text, OwnRemove(self.scope, name))
        self._show(desk, {name: None})

    def rename(self, desk: Desk, name: str, new_name: str) -> None:
        """Give a server another name."""
        entry, _ = self.entry(desk, name)
        if self.has(desk, new_name):
            raise NameTaken(f'there is a server "{new_name}" in {self.spot} already')
        path = self.place(desk, name)
        text = self._text(desk, path, lambda text: mcp_json.rename(text, name, new_name))
        desk.put_own(path, text, OwnRename(self.scope, name, new_name))
        self._show(desk, {name: None, new_name: spell(entry, self.spot.shape)})

    def switch(self, desk: Desk, name: str, *, enabled: bool) -> None:
        """Let a server run, or not."""
        entry, _ = self.entry(desk, name)
        definition = {**spell(entry, self.spot.shape), "enabled": enabled}
        path = self.place(desk, name)
        desk.put_own(path, desk.text(path), OwnPut(self.scope, name, definition))
        self._show(desk, {name: definition})

    def _check_new(self, name: str) -> None:
        if fault := name_fault(self.spot.client, name):
            raise NameRefused.of(Problem("name", fault))
        if holder := self.own.holder(name):
            raise NameTaken(f'the name "{name}" is in use ({YARD}:{holder})')

    def _text(self, desk: Desk, path: str, edit: Callable[[str], str]) -> str:
        """The project's file after an edit; the user's document is made up anew instead."""
        return desk.text(path) if self.scope is Scope.USER else edit(desk.text(path))

    def _show(self, desk: Desk, changed: Mapping[str, Mapping[str, object] | None]) -> None:
        """Let the document that is made up say what it will."""
        path = USER_DOCUMENT if self.scope is Scope.USER else PROJECT_DOCUMENT
        servers = servers_of(desk.text(path))
        for name, definition in changed.items():
            servers.pop(name, None)
            if definition is None:
                continue
            said = definition if self.scope is Scope.USER else policy_of(definition)
            if said or self.scope is Scope.USER:
                servers[name] = said
        desk.put_own(path, document(servers))


def _told(problem: Problem) -> Warned:
    return Warned(WarningKind.INFO, problem.field, "", problem.message)
