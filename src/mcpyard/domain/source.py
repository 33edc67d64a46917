"""The ports to where definitions come from; `Memory` keeps what belongs to them."""

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from msgspec import Struct

from mcpyard.domain.desired import Document, Owner, PolicyEdit
from mcpyard.domain.errors import NameTaken
from mcpyard.domain.model import Config


class Source(Protocol):
    """One place that definitions come from."""

    @property
    def owner(self) -> Owner:
        """Who owns what this source says."""
        ...

    async def open(self, wake: Callable[[], None]) -> None:
        """Read for the first time, then call `wake` whenever a look is worth while."""
        ...

    def document(self) -> Document:
        """What the source says now; a broken text keeps the last good one in force."""
        ...

    async def close(self) -> None:
        """Stop watching."""
        ...


@runtime_checkable
class EditableSource(Source, Protocol):
    """A source whose definitions can be changed from here.

    Every change is durable and in force when the method returns, or nothing was changed.
    """

    async def add(self, configs: Mapping[str, Config]) -> Mapping[str, NameTaken]:
        """Add the definitions whose names are free, in one write; the refusal of each other."""
        ...

    async def put(self, name: str, config: Config, instead_of: Config) -> None:
        """Change the definition that means `instead_of`.

        Raises:
            DocumentMoved: The one there does not mean `instead_of` any more.
        """
        ...

    async def remove(self, *names: str) -> None:
        """Take definitions out, in one write; `ServerUnknown` when one is gone already."""
        ...

    async def rename(self, name: str, new_name: str) -> None:
        """Give a definition another name; `NameTaken` when it is in use."""
        ...


class WholeChange(Struct, frozen=True):
    """All that is to change about a server.

    Attributes:
        name: What it is called from now on.
        config: How it is reached from now on; None for as it is.
        instead_of: What its definition must still mean, where that is to change.
        policy: Makes its new policy out of the one it has; called in another thread, maybe twice.
    """

    name: str
    config: Config | None
    instead_of: Config
    policy: PolicyEdit


@runtime_checkable
class WholeSource(EditableSource, Protocol):
    """A source that keeps the policies of its servers as well, so that a change is one write."""

    async def change(self, name: str, change: WholeChange) -> None:
        """Change everything about a definition that is to change, or nothing.

        Raises:
            ServerUnknown: It is gone already.
            NameTaken: The new name is in use.
            DocumentMoved: It does not mean `instead_of` any more.
        """
        ...
