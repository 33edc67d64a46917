"""One scope of another client that is kept in files, over the texts of a workspace."""

from dataclasses import dataclass, replace
from typing import Final

from mcpyard.domain.errors import ArgumentsRefused, NameTaken, Problem
from mcpyard.formats import editing, switches
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import FileListing, nobody
from mcpyard.formats.facts import SwitchKind
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, usable
from mcpyard.yard.clients.workspace import Workspace, within

_ELSEWHERE: Final = frozenset({SwitchKind.LIST, SwitchKind.MAP})


@dataclass(frozen=True, slots=True)
class FileScopeStore:
    """A scope that is kept in files."""

    ref: ClientScopeRef
    candidates: tuple[str, ...]
    switch_file: str

    @classmethod
    def of(cls, ref: ClientScopeRef, around: ClientFolders) -> "FileScopeStore":
        """The store of a scope, as seen from somewhere.

        Raises:
            ArgumentsRefused: It depends on a project, and there is none.
        """
        location = ref.scope.location
        if location is None or not usable(location, ref.scope.above, around):
            message = f"is required: {ref} is stored in a project folder"
            raise ArgumentsRefused.of(Problem("project", message))
        switch = switches.switch_location(ref)
        paths = candidates(switch, around) if switch and usable(switch, (), around) else ()
        return cls(ref, candidates(location, around), paths[0] if paths else "")

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, and that of its switch."""
        return tuple(dict.fromkeys(filter(None, (*self.candidates, self.switch_file))))

    def place(self, workspace: Workspace, name: str) -> str:
        """The file that has the name, else the first that exists, else the one to create."""
        holding = [path for path in self._existing(workspace) if self._holds(workspace, path, name)]
        # Of two that have it, the program goes by the later.
        return (holding[-1:] or self._existing(workspace) or [self.candidates[0]])[0]

    def entry(self, workspace: Workspace, name: str) -> tuple[Entry, ClientScopeRef]:
        """What a server says, and the scope with the format of its file.

        That it is off is said even where another file says it.
        """
        listing = self._listing(workspace, self.place(workspace, name))
        entry = listing.entry(name)
        if not self._is_on(workspace, name):
            entry = replace(entry, enabled=False)
        return entry, listing.ref

    def file_ref(self, workspace: Workspace, name: str) -> ClientScopeRef:
        """The scope with the format of its file."""
        return self._listing(workspace, self.place(workspace, name)).ref

    def has(self, workspace: Workspace, name: str) -> bool:
        """Whether there is a server of that name."""
        return self._holds(workspace, self.place(workspace, name), name)

    def write(self, workspace: Workspace, name: str, entry: Entry) -> None:
        """Add or change a server, and its switch where that is in another place."""
        path = self.place(workspace, name)
        with within(path):
            workspace.put(path, editing.write(self.ref, workspace.text(path), name, entry).text)
        on = entry.enabled is not False
        if self._switched_elsewhere and self._is_on(workspace, name) is not on:
            self.switch(workspace, name, enabled=on)

    def remove(self, workspace: Workspace, name: str) -> None:
        """Take a server out."""
        path = self._place_of(workspace, name)
        with within(path):
            workspace.put(path, editing.remove(self.ref, workspace.text(path), name).text)

    def rename(self, workspace: Workspace, name: str, new_name: str) -> None:
        """Give a server another name; one that is off stays so."""
        if self.has(workspace, new_name):
            raise NameTaken(f'a server "{new_name}" already exists in {self.ref}')
        path = self._place_of(workspace, name)
        off = self._switched_elsewhere and not self._is_on(workspace, name)
        with within(path):
            workspace.put(path, editing.rename(self.ref, workspace.text(path), name, new_name).text)
        if off:
            self.switch(workspace, new_name, enabled=False)

    def switch(self, workspace: Workspace, name: str, *, enabled: bool) -> None:
        """Switch a server on or off."""
        path = self.switch_file if self._switched_elsewhere else self._place_of(workspace, name)
        with within(path):
            edited = switches.set_enabled(self.ref, workspace.text(path), name, enabled=enabled)
        workspace.put(path, edited.text)
        workspace.warn(*edited.warnings)

    @property
    def _switched_elsewhere(self) -> bool:
        return self.ref.scope.switch.kind in _ELSEWHERE and bool(self.switch_file)

    def _is_on(self, workspace: Workspace, name: str) -> bool:
        if not self._switched_elsewhere:
            return True
        with within(self.switch_file):
            off = workspace.switched_off(self.ref, self.switch_file)
        return switches.is_on(self.ref, name, off)

    def _existing(self, workspace: Workspace) -> list[str]:
        existing = [path for path in self.candidates if workspace.exists(path)]
        location = self.ref.scope.location
        return existing[-1:] if location and location.alone else existing

    def _listing(self, workspace: Workspace, path: str) -> FileListing:
        return workspace.listing(self.ref, path)

    def _holds(self, workspace: Workspace, path: str, name: str) -> bool:
        return self._listing(workspace, path).has(name)

    def _place_of(self, workspace: Workspace, name: str) -> str:
        path = self.place(workspace, name)
        if not self._holds(workspace, path, name):
            raise nobody(name, self.ref)
        return path
