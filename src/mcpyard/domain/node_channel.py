"""What the nodes of a cluster ask each other outside of calls, by topic."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from msgspec import Struct

MARK: Final = "~"
"""Stands between the name of a node and the rest of an id; no name of a node contains it."""

SendPart = Callable[[bytes], Awaitable[None]]
"""Sends a part of an answer, as JSON; returns once the asking node has dealt with it."""

Answerer = Callable[[bytes, SendPart], Coroutine[Any, Any, bytes]]
"""Answers a question, as JSON; cancelled when the asking node wants no answer any more."""


class RevokedKey(Struct, frozen=True, omit_defaults=True):
    """Something that let somebody in, and does not any more.

    Attributes:
        who: Whose it was, as callers are named.
        at: When it was taken away.
        token: The call token, if it was one.
        cookie_hash: The hash of a browser's cookie, if it was one.
        rev: The revision of the database that knows of it.
        recipients: The nodes that were told by whoever tells this one.
    """

    who: str
    at: datetime
    token: UUID | None = None
    cookie_hash: str = ""
    rev: int = 0
    recipients: tuple[str, ...] = ()


class NodeChannel(Protocol):
    """The way to the other nodes of a cluster."""

    @property
    def node(self) -> str:
        """The name of this node."""
        ...

    def answer_with(self, topic: str, answerer: Answerer) -> None:
        """Answer the questions of other nodes about a topic."""
        ...

    async def ask(
        self,
        node: str,
        topic: str,
        params: bytes,
        *,
        on_part: SendPart | None = None,
        within: float | None = None,
    ) -> bytes:
        """Ask another node; the answer as JSON.

        Args:
            node: Its name.
            topic: What the question is about.
            params: The question, as JSON.
            on_part: Takes the parts that come before the answer.
            within: Seconds until `TimedOut`; None for never.

        Raises:
            Disconnected: There is no such node, or it cannot be reached; `untaken` tells whether
                the question certainly was not sent.
            YardError: What the other node raised.
        """
        ...

    @property
    def linked(self) -> Sequence[str]:
        """The other nodes that a link leads to, also those that were taken over."""
        ...

    async def others(self, within: float) -> Sequence[str]:
        """The other nodes that did not leave, and those that are linked."""
        ...

    async def ask_each(
        self, nodes: Sequence[str], topic: str, params: bytes, within: float
    ) -> Mapping[str, bytes | None]:
        """Ask several nodes; by name what each answered, None where it did not in time."""
        ...


def owner_of(name: str) -> str:
    """The node in an id that one made; empty where there is none."""
    node, mark, _ = name.partition(MARK)
    return node if mark else ""


def owned(node: str, name: str) -> str:
    """An id with the name of the node that made it; as it is without a node."""
    return f"{node}{MARK}{name}" if node else name
