"""What can be done to the servers of clients, each a function of the texts of a workspace."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from mcpyard.domain.errors import (
    ArgumentsRefused,
    DefinitionError,
    EditRefused,
    InputError,
    NameTaken,
    Problem,
    ServerUnknown,
    YardError,
)
from mcpyard.domain.stored import DroppedField
from mcpyard.formats.copying.mapping import Converted, convert, restore
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import nobody
from mcpyard.formats.warnings import Warned
from mcpyard.yard.clients.edit_results import Copied
from mcpyard.yard.clients.patching import patched, refuse_unfit
from mcpyard.yard.clients.verified import unverified_warnings
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope_store import ScopeStore

_IN_PLACE: Final = "Overwrite it with --replace, or choose another name with --name."
_ANOTHER_NAME: Final = "Choose another name with --name, or another target with --to."


@dataclass(frozen=True, slots=True)
class Changing:
    """A request to change a server, as a merge patch in neutral words; `name` renames."""

    store: ScopeStore
    name: str
    patch: Mapping[str, object]

    @property
    def stores(self) -> tuple[ScopeStore, ...]:
        """Where something changes."""
        return (self.store,)

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write."""
        return self.stores

    def do(self, workspace: Workspace) -> None:
        """Change the fields, then the switch, then the name."""
        patch = dict(self.patch)
        new_name, enabled = patch.pop("name", self.name), patch.pop("enabled", None)
        if patch:
            entry, ref = self.store.entry(workspace, self.name)
            self.store.write(workspace, self.name, patched(entry, patch, ref))
        if "enabled" in self.patch:
            self._switch(workspace, enabled)
        if new_name != self.name:
            self.store.rename(workspace, self.name, _text("name", new_name))
        if not self.patch and not self.store.has(workspace, self.name):
            raise nobody(self.name, self.store.ref)

    def _switch(self, workspace: Workspace, enabled: object) -> None:
        if not isinstance(enabled, bool):
            raise DefinitionError.of(Problem("enabled", "must be true or false"))
        if not self.store.has(workspace, self.name):
            raise nobody(self.name, self.store.ref)
        self.store.switch(workspace, self.name, enabled=enabled)


@dataclass(frozen=True, slots=True)
class Removing:
    """A request to take a server out."""

    store: ScopeStore
    name: str

    @property
    def stores(self) -> tuple[ScopeStore, ...]:
        """Where something changes."""
        return (self.store,)

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write."""
        return self.stores

    def do(self, workspace: Workspace) -> None:
        """Take it out."""
        self.store.remove(workspace, self.name)


@dataclass(slots=True)
class Copying:
    """A request to copy a server, or to move it.

    Attributes:
        dropped: What an earlier copy left out that may belong to it.
        left: What this one left out, once it was done.
    """

    source: ScopeStore
    target: ScopeStore
    name: str
    new_name: str
    matrix: Matrix = Matrix.NATIVE
    replace: bool = False
    move: bool = False
    dropped: DroppedField | None = None
    left: DroppedField | None = field(default=None, init=False)

    @property
    def stores(self) -> tuple[ScopeStore, ...]:
        """Where something is read or changes."""
        return self.source, self.target

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write."""
        return self.stores if self.move else (self.target,)

    def do(self, workspace: Workspace) -> None:
        """Write the copy; then, to move it, take the other one out."""
        entry, source = self.source.entry(workspace, self.name)
        target = self.target.file_ref(workspace, self.new_name)
        self._refuse_itself(workspace)
        converted = convert(entry, source, target, self.matrix)
        if not self.replace and self.target.has(workspace, self.new_name):
            message = f'a server "{self.new_name}" already exists in {self.target.ref}'
            raise NameTaken(message).advising(_IN_PLACE)
        refuse_unfit(converted.entry)
        workspace.warn(*converted.warnings)
        whole = self._whole(entry, converted)
        self.target.write(workspace, self.new_name, whole, replace=self.replace)
        self.left = self._left(converted)
        if self.move:
            self.source.remove(workspace, self.name)

    def _refuse_itself(self, workspace: Workspace) -> None:
        origin = self.source.place(workspace, self.name), self.source.ref.above, self.name
        there = self.target.place(workspace, self.new_name), self.target.ref.above, self.new_name
        if origin == there:
            message = f'"{self.name}" cannot be copied onto itself'
            raise EditRefused.of(Problem("to", message)).advising(_ANOTHER_NAME)

    def _whole(self, entry: Entry, converted: Converted) -> Entry:
        """The copy, with what was left out when it went the other way."""
        dropped = self.dropped
        if (
            dropped is None
            or dropped.client != self.target.ref.client.id
            or dropped.mark != mark(entry)
        ):
            return converted.entry
        return restore(converted.entry, dropped.fields, self.target.ref)

    def _left(self, converted: Converted) -> DroppedField | None:
        if not converted.left:
            return None
        return DroppedField(self.source.ref.client.id, mark(converted.entry), converted.left)


@dataclass(slots=True)
class Importing:
    """A request to copy many servers at once; what keeps one of them out keeps out no other.

    Attributes:
        copies: The requests, each by a number of its own.
        refused: Why some were not copied, once it was done.
        warnings: The warnings about each.
    """

    copies: Mapping[int, Copying]
    refused: dict[int, YardError] = field(default_factory=dict[int, YardError], init=False)
    warnings: dict[int, tuple[Warned, ...]] = field(
        default_factory=dict[int, tuple[Warned, ...]], init=False
    )

    @property
    def stores(self) -> tuple[ScopeStore, ...]:
        """Where something is read or changes."""
        return tuple(store for each in self.copies.values() for store in each.stores)

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write."""
        return tuple(store for each in self.copies.values() for store in each.written)

    def copied(self, number: int) -> Copied:
        """What became of one of them."""
        copying, error = self.copies[number], self.refused.get(number)
        # Whether that is confirmed was asked before any of them was done.
        unverified = unverified_warnings((it.ref for it in copying.written), confirmed=True)
        warnings = () if error else (*unverified, *self.warnings.get(number, ()))
        return Copied(copying.name, str(copying.target.ref), warnings, error)

    def do(self, workspace: Workspace) -> None:
        """Write all copies that can be written."""
        self.refused.clear()
        for number, each in self.copies.items():
            # What was told of one must be told of the next as well.
            workspace.warnings = []
            try:
                each.do(workspace)
            except (InputError, NameTaken, ServerUnknown) as error:
                self.refused[number] = error
            self.warnings[number] = tuple(workspace.warnings)


class HasPaths(Protocol):
    """Something that is read from files."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files."""
        ...


class Operation(Protocol):
    """Something that can be done to texts."""

    @property
    def stores(self) -> Sequence[HasPaths]:
        """Where something is read or changes."""
        ...

    @property
    def written(self) -> Sequence[ScopeStore]:
        """What it may write of programs."""
        ...

    def do(self, workspace: Workspace) -> None:
        """Do it, to the texts of a workspace alone."""
        ...


def mark(entry: Entry) -> str:
    """What a server is known by, whatever else changes about it."""
    launch = f"{entry.command}\0{entry.args}\0{entry.url}"
    return hashlib.sha256(launch.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def dropped_key(store: ScopeStore) -> str:
    """Where what was left out is kept: the same place by whatever words it is named."""
    return f"{store.ref}@{store.paths[0]}"


def _text(field_name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ArgumentsRefused.of(Problem(field_name, "must be a string"))
    return value
