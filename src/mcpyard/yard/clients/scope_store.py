"""One scope of another client that is kept in files, over the texts of a workspace."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from mcpyard.domain.errors import ArgumentsRefused, DocumentBroken, NameTaken, Problem
from mcpyard.formats import editing, switches
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import FileListing, nobody
from mcpyard.formats.facts import SwitchKind
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, usable
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.workspace import Workspace, within

_ELSEWHERE: Final = frozenset({SwitchKind.LIST, SwitchKind.MAP})


@dataclass(frozen=True, slots=True)
class FileScopeStore:
    """A scope that is kept in files; those `beside` it are switched by the same names."""

    ref: ClientScopeRef
    candidates: tuple[str, ...]
    switch_file: str
    beside: "tuple[FileScopeStore, ...]" = ()

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
        store = cls(ref, candidates(location, around), _switch_file(ref, around))
        return replace(store, beside=tuple(_beside(store, around)))

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, that of its switch, and those of the scopes beside it."""
        beside = (path for store in self.beside for path in store.candidates)
        return tuple(dict.fromkeys(filter(None, (*self.candidates, self.switch_file, *beside))))

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

    def names(self, workspace: Workspace) -> tuple[str, ...]:
        """The names of the servers in all its files.

        Raises:
            DocumentBroken: One of its files cannot be read.
        """
        listings = [self._listing(workspace, path) for path in self._existing(workspace)]
        return tuple(dict.fromkeys(each.name for it in listings for each in it.servers))

    def is_off(self, workspace: Workspace, name: str) -> bool:
        """Whether a name is switched off in another place than its entry."""
        return not self._is_on(workspace, name)

    def write(
        self, workspace: Workspace, name: str, entry: Entry, *, replace: bool = False
    ) -> None:
        """Add, change or replace a server, and its switch where that is in another place."""
        path = self.place(workspace, name)
        with within(path):
            text = workspace.text(path)
            edited = editing.write(self.ref, text, name, entry, replace=replace)
        workspace.put(path, edited.text)
        workspace.warn(*edited.warnings)
        if unread := self._listing(workspace, path).unread:
            workspace.warn(Warned(WarningKind.UNUSABLE, "", "", unread))
        on = entry.enabled is not False
        if self._switched_elsewhere and self._is_on(workspace, name) is not on:
            self.switch(workspace, name, enabled=on)

    def remove(self, workspace: Workspace, name: str) -> None:
        """Take a server out."""
        path = self._place_of(workspace, name)
        with within(path):
            workspace.put(path, editing.remove(self.ref, workspace.text(path), name).text)
        self._rename_in_switch(workspace, name, None)

    def rename(self, workspace: Workspace, name: str, new_name: str) -> None:
        """Give a server another name; one that is off stays so."""
        if self.has(workspace, new_name):
            raise NameTaken(f'a server "{new_name}" already exists in {self.ref}')
        path = self._place_of(workspace, name)
        off = self._switched_elsewhere and not self._is_on(workspace, name)
        with within(path):
            workspace.put(path, editing.rename(self.ref, workspace.text(path), name, new_name).text)
        self._rename_in_switch(workspace, name, new_name)
        if off:
            self.switch(workspace, new_name, enabled=False)

    def switch(self, workspace: Workspace, name: str, *, enabled: bool) -> None:
        """Switch a server on or off."""
        path = self.switch_file if self._switched_elsewhere else self._place_of(workspace, name)
        with within(path):
            edited = switches.set_enabled(self.ref, workspace.text(path), name, enabled=enabled)
        # Whoever is killed between two files must not leave a server on that is to be off.
        workspace.put(path, edited.text, first=not enabled and self._switched_elsewhere)
        workspace.warn(*edited.warnings)

    @property
    def _switched_elsewhere(self) -> bool:
        return self.ref.scope.switch.kind in _ELSEWHERE and bool(self.switch_file)

    def _rename_in_switch(self, workspace: Workspace, name: str, new_name: str | None) -> None:
        """Let no name stay behind in lists and maps, unless they switch another server by it."""
        if not self._switched_elsewhere or self._is_used_beside(workspace, name):
            return
        with within(self.switch_file):
            text = workspace.text(self.switch_file)
            edited = switches.renamed(self.ref, text, name, new_name)
        if edited != text:
            workspace.put(self.switch_file, edited)

    def _is_used_beside(self, workspace: Workspace, name: str) -> bool:
        switched = switches.switch_name(self.ref, name)
        try:
            names = [name for store in (self, *self.beside) for name in store.names(workspace)]
        except DocumentBroken:
            # What cannot be read may hold it.
            return True
        return switched in {switches.switch_name(self.ref, each) for each in names}

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


def _switch_file(ref: ClientScopeRef, around: ClientFolders) -> str:
    location = switches.switch_location(ref)
    usable_here = location is not None and usable(location, (), around)
    return candidates(location, around)[0] if location and usable_here else ""


def _beside(store: FileScopeStore, around: ClientFolders) -> Iterator[FileScopeStore]:
    """The other scopes of a program whose servers are switched by the same lists or map."""
    client, switch = store.ref.client, store.ref.scope.switch
    for scope in client.scopes if switch.kind in _ELSEWHERE else ():
        ref = ClientScopeRef(client, scope, store.ref.project)
        location = scope.location
        same = scope.name != store.ref.scope.name and scope.switch.off == switch.off
        if same and location and usable(location, scope.above, around):
            file = _switch_file(ref, around)
            if file == store.switch_file:
                yield FileScopeStore(ref, candidates(location, around), file)
