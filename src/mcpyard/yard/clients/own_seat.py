"""One scope of the yard, as other clients have theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpyard.domain.errors import NameRefused, NameTaken, Problem
from mcpyard.domain.model import Config, Scope
from mcpyard.domain.spelling import read_definition
from mcpyard.formats import mcp_json
from mcpyard.formats.entries import Entry, spell
from mcpyard.formats.listing import nobody
from mcpyard.formats.locating import Spot
from mcpyard.formats.naming import name_fault
from mcpyard.formats.warned import Warned, WarningKind
from mcpyard.yard.clients.desk import Desk, OwnPut, OwnRemove, OwnRename, OwnSwitch, within
from mcpyard.yard.clients.own import (
    PROJECT_DOCUMENT,
    USER_DOCUMENT,
    YARD,
    OwnServers,
)
from mcpyard.yard.clients.own_documents import (
    Plain,
    document,
    entry_of,
    policy_of,
    servers_of,
    whole_of,
    yards_own,
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
        return entry_of(self._config(name), self.spot), self.spot

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
        present = self.own.servers(self.scope).get(name)
        if present is None:
            self._check_new(name)
        kept = yards_own(present) if present else {}
        config = read_definition({**spell(entry, self.spot.shape), **kept}).config
        definition = whole_of(config)
        action = OwnPut(self.scope, name, definition)
        path = self.place(desk, name)
        with within(path):
            text = self._text(desk, path, lambda text: mcp_json.put(text, name, config))
        desk.put_own(path, text, action)
        said = definition if self.scope is Scope.USER else policy_of(definition)
        others = {each: told for each, told in self._said(desk).items() if each != name}
        self._say(desk, others | ({name: said} if said else {}))
        if self.scope is Scope.PROJECT:
            desk.tell(*map(_told, literal_secrets(config)))

    def remove(self, desk: Desk, name: str) -> None:
        """Take a server out."""
        self._config(name)
        path = self.place(desk, name)
        text = self._text(desk, path, lambda text: mcp_json.remove(text, name))
        desk.put_own(path, text, OwnRemove(self.scope, name))
        self._say(desk, {each: told for each, told in self._said(desk).items() if each != name})

    def rename(self, desk: Desk, name: str, new_name: str) -> None:
        """Give a server another name."""
        self._config(name)
        if self.has(desk, new_name):
            raise NameTaken(f'there is a server "{new_name}" in {self.spot} already')
        path = self.place(desk, name)
        text = self._text(desk, path, lambda text: mcp_json.rename(text, name, new_name))
        desk.put_own(path, text, OwnRename(self.scope, name, new_name))
        said = self._said(desk).items()
        self._say(desk, {new_name if each == name else each: told for each, told in said})

    def switch(self, desk: Desk, name: str, *, enabled: bool) -> None:
        """Let a server run, or not."""
        self._config(name)
        path = self.place(desk, name)
        desk.put_own(path, desk.text(path), OwnSwitch(self.scope, name, enabled))
        said = self._said(desk)
        self._say(desk, {**said, name: {**said.get(name, {}), "enabled": enabled}})

    def _config(self, name: str) -> Config:
        found = self.own.servers(self.scope).get(name)
        if found is None:
            raise nobody(name, self.spot)
        return found

    def _check_new(self, name: str) -> None:
        if fault := name_fault(self.spot.client, name):
            raise NameRefused.of(Problem("name", fault))
        if holder := self.own.holder(name):
            raise NameTaken(f'the name "{name}" is in use ({YARD}:{holder})')

    def _text(self, desk: Desk, path: str, edit: Callable[[str], str]) -> str:
        """The project's file after an edit; the user's document is made up anew instead."""
        return desk.text(path) if self.scope is Scope.USER else edit(desk.text(path))

    @property
    def _made_up(self) -> str:
        return USER_DOCUMENT if self.scope is Scope.USER else PROJECT_DOCUMENT

    def _said(self, desk: Desk) -> dict[str, Plain]:
        """What the document that is made up says by now."""
        return servers_of(desk.text(self._made_up))

    def _say(self, desk: Desk, servers: Mapping[str, Plain]) -> None:
        """Let the document that is made up say what it will."""
        desk.put_own(self._made_up, document(servers))


def _told(problem: Problem) -> Warned:
    return Warned(WarningKind.INFO, problem.field, "", problem.message)
