"""Where a server is, or is to be: one scope of one client, over the texts on a desk."""

from dataclasses import dataclass, replace
from typing import Final, Protocol

from mcpyard.domain.errors import ArgumentsRefused, NameTaken, Problem
from mcpyard.formats import editing, switches
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import FileListing, nobody
from mcpyard.formats.facts import SwitchKind
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, usable
from mcpyard.yard.clients.workspace import Workspace, within

_ELSEWHERE: Final = frozenset({SwitchKind.LIST, SwitchKind.MAP})


class ScopeStore(Protocol):
    """One scope of one client."""

    @property
    def spot(self) -> ClientScopeRef:
        """Whose it is."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that must be read."""
        ...

    def place(self, desk: Workspace, name: str) -> str:
        """The file in which a server is, or would be."""
        ...

    def entry(self, desk: Workspace, name: str) -> tuple[Entry, ClientScopeRef]:
        """What a server says, and the spot with the shape its file is in."""
        ...

    def found(self, desk: Workspace, name: str) -> ClientScopeRef:
        """The spot with the shape of the file in which a server would be."""
        ...

    def has(self, desk: Workspace, name: str) -> bool:
        """Whether there is a server of that name."""
        ...

    def write(self, desk: Workspace, name: str, entry: Entry) -> None:
        """Add a server, or change it to say what the entry says, switch and all."""
        ...

    def remove(self, desk: Workspace, name: str) -> None:
        """Take a server out."""
        ...

    def rename(self, desk: Workspace, name: str, new_name: str) -> None:
        """Give a server another name."""
        ...

    def switch(self, desk: Workspace, name: str, *, enabled: bool) -> None:
        """Switch a server on or off, in the way its program understands."""
        ...


@dataclass(frozen=True, slots=True)
class FileScopeStore:
    """A scope that is kept in files."""

    spot: ClientScopeRef
    candidates: tuple[str, ...]
    switch_file: str

    @classmethod
    def of(cls, spot: ClientScopeRef, around: ClientFolders) -> "FileScopeStore":
        """The seat of a spot, as seen from somewhere.

        Raises:
            ArgumentsRefused: It depends on a project, and there is none.
        """
        location = spot.scope.location
        if location is None or not usable(location, spot.scope.above, around):
            message = f"is required: {spot} is stored in a project folder"
            raise ArgumentsRefused.of(Problem("project", message))
        switch = switches.switch_location(spot)
        known = candidates(switch, around) if switch and usable(switch, (), around) else ()
        return cls(spot, candidates(location, around), known[0] if known else "")

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, and that of its switch."""
        return tuple(dict.fromkeys(filter(None, (*self.candidates, self.switch_file))))

    def place(self, desk: Workspace, name: str) -> str:
        """The file that has the name, else the first that exists, else the one to create."""
        holding = [path for path in self._existing(desk) if self._holds(desk, path, name)]
        # Of two that have it, the program goes by the later.
        return (holding[-1:] or self._existing(desk) or [self.candidates[0]])[0]

    def entry(self, desk: Workspace, name: str) -> tuple[Entry, ClientScopeRef]:
        """What a server says; that it is off is said even where another file does."""
        listing = self._listing(desk, self.place(desk, name))
        entry = listing.entry(name)
        if not self._is_on(desk, name):
            entry = replace(entry, enabled=False)
        return entry, listing.ref

    def found(self, desk: Workspace, name: str) -> ClientScopeRef:
        """The spot with the shape of its file."""
        return self._listing(desk, self.place(desk, name)).ref

    def has(self, desk: Workspace, name: str) -> bool:
        """Whether there is a server of that name."""
        return self._holds(desk, self.place(desk, name), name)

    def write(self, desk: Workspace, name: str, entry: Entry) -> None:
        """Add or change a server, and its switch where that is in another place."""
        path = self.place(desk, name)
        with within(path):
            desk.put(path, editing.write(self.spot, desk.text(path), name, entry).text)
        on = entry.enabled is not False
        if self._switched_elsewhere and self._is_on(desk, name) is not on:
            self.switch(desk, name, enabled=on)

    def remove(self, desk: Workspace, name: str) -> None:
        """Take a server out."""
        path = self._place_of(desk, name)
        with within(path):
            desk.put(path, editing.remove(self.spot, desk.text(path), name).text)

    def rename(self, desk: Workspace, name: str, new_name: str) -> None:
        """Give a server another name; one that is off stays so."""
        if self.has(desk, new_name):
            raise NameTaken(f'a server "{new_name}" already exists in {self.spot}')
        path = self._place_of(desk, name)
        off = self._switched_elsewhere and not self._is_on(desk, name)
        with within(path):
            desk.put(path, editing.rename(self.spot, desk.text(path), name, new_name).text)
        if off:
            self.switch(desk, new_name, enabled=False)

    def switch(self, desk: Workspace, name: str, *, enabled: bool) -> None:
        """Switch a server on or off."""
        path = self.switch_file if self._switched_elsewhere else self._place_of(desk, name)
        with within(path):
            edited = switches.set_enabled(self.spot, desk.text(path), name, enabled=enabled)
        desk.put(path, edited.text)
        desk.tell(*edited.warnings)

    @property
    def _switched_elsewhere(self) -> bool:
        return self.spot.scope.switch.kind in _ELSEWHERE and bool(self.switch_file)

    def _is_on(self, desk: Workspace, name: str) -> bool:
        if not self._switched_elsewhere:
            return True
        with within(self.switch_file):
            off = switches.switched_off(self.spot, desk.text(self.switch_file))
        return switches.is_on(self.spot, name, off)

    def _existing(self, desk: Workspace) -> list[str]:
        found = [path for path in self.candidates if desk.exists(path)]
        location = self.spot.scope.location
        return found[-1:] if location and location.alone else found

    def _listing(self, desk: Workspace, path: str) -> FileListing:
        return desk.listing(self.spot, path)

    def _holds(self, desk: Workspace, path: str, name: str) -> bool:
        return any(each.name == name for each in self._listing(desk, path).servers)

    def _place_of(self, desk: Workspace, name: str) -> str:
        path = self.place(desk, name)
        if not self._holds(desk, path, name):
            raise nobody(name, self.spot)
        return path
