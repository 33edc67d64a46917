"""Questions of one node to another outside of calls, with parts of the answer before its end.

A part is a request back to the asking node, which answers once it has dealt with it: so nothing
piles up for a client that reads slowly.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct, field
from msgspec.json import Decoder

from mcpyard.cluster.node_view import NodeView
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.cluster import Member, NodeState
from mcpyard.domain.errors import Disconnected, YardError
from mcpyard.domain.node_channel import Answerer, SendPart
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh.link_answers import LinkAnswers
from mcpyard.mesh.messages import CallbackToken
from mcpyard.mesh.node_link import NodeLink
from mcpyard.mesh.node_links import NodeLinks
from mcpyard.mesh.picture import CHECK_NODE
from mcpyard.wire.change_signal import ChangeSignal

_LINK_SECONDS: Final = 3.0
"""How long a question waits for the link to a node that beats: one may have restarted just now."""

_BEATING: Final = 2.5
"""Seconds since its last beat after which nobody waits for a node that is not linked."""

_LOOK_AGAIN: Final = 0.25
_PART: Final = "part"
_DONE: Final = b"{}"


class Conversation(Struct, frozen=True, omit_defaults=True):
    """A question, and what names it for all that is sent back before its answer."""

    about: Raw
    token: CallbackToken | None = field(default=None, name="_meta")


_read_conversation: Final = Decoder(Conversation).decode


class MeshChannel:
    """The `NodeChannel` over the links of a node.

    Attributes:
        list_members: Lists the members of the cluster; by default those of the last look.
    """

    def __init__(
        self, view: NodeView, links: NodeLinks, answers: LinkAnswers, changes: ChangeSignal
    ) -> None:
        self._view = view
        self._links = links
        self._answers = answers
        self._changes = changes
        self._open = 0
        self.list_members: Callable[[], Awaitable[Sequence[Member]]] = self._last_members

    @property
    def node(self) -> str:
        """The name of this node."""
        return self._view.name

    def answer_with(self, topic: str, answerer: Answerer) -> None:
        """Answer the questions of other nodes about a topic."""

        def answer(link: NodeLink, params: bytes) -> Coroutine[Any, Any, bytes]:
            conversation = _read_conversation(params)
            send = _part_sender(link, conversation.token)
            return self._counted(answerer(bytes(conversation.about), send))

        self._answers.others[topic] = answer

    async def finish(self, seconds: float) -> None:
        """Wait until the other nodes have their answers, but no longer than that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._open:
                    await self._changes.wait(seconds)

    async def ask(
        self,
        node: str,
        topic: str,
        params: bytes,
        *,
        on_part: SendPart | None = None,
        within: float | None = None,
    ) -> bytes:
        """Ask another node (see `NodeChannel`)."""

        async def take(_method: str, part: bytes) -> bytes:
            if on_part is not None:
                await on_part(part)
            return _DONE

        link = await self._link(node)
        terms = CallTerms(timeout=within, on_request=take if on_part else None)
        return await link.converse(topic, msgspec.json.encode(Conversation(Raw(params))), terms)

    @property
    def linked(self) -> Sequence[str]:
        """The other nodes that a link leads to (see `NodeChannel`)."""
        return [link.node for link in self._links.all()]

    async def others(self, within: float) -> Sequence[str]:
        """The other nodes; also one that joined since the last look (see `NodeChannel`)."""
        try:
            async with asyncio.timeout(within):
                members = await self.list_members()
        except (YardError, TimeoutError):
            members = self._view.members
        present = {each.node.name for each in members if each.state is not NodeState.LEFT}
        # One that was taken over, but is linked, answers callers still.
        return sorted(present.union(self.linked) - {self.node})

    async def ask_each(
        self, nodes: Sequence[str], topic: str, params: bytes, within: float
    ) -> Mapping[str, bytes | None]:
        """Ask several nodes (see `NodeChannel`)."""
        tasks = {name: asyncio.create_task(self._answer_of(name, topic, params)) for name in nodes}
        if tasks:
            _, late = await asyncio.wait(tasks.values(), timeout=within)
            for task in late:
                task.cancel()
        return {name: task.result() if task.done() else None for name, task in tasks.items()}

    async def _last_members(self) -> Sequence[Member]:
        return self._view.members

    async def _counted(self, answering: Coroutine[Any, Any, bytes]) -> bytes:
        self._open += 1
        try:
            return await answering
        finally:
            self._open -= 1
            self._changes.happened()

    async def _answer_of(self, node: str, topic: str, params: bytes) -> bytes | None:
        try:
            return await self.ask(node, topic, params)
        except YardError:
            return None

    async def _link(self, node: str) -> NodeLink:
        """The link to a node, also to one that is about to be linked.

        Raises:
            Disconnected: There is none.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + _LINK_SECONDS
        while (link := self._links.get(node)) is None:
            if loop.time() >= until or not self._beats(node):
                raise _unreachable(node)
            try:
                await self._changes.wait(_LOOK_AGAIN)
            except TimeoutError:
                continue
        return link

    def _beats(self, node: str) -> bool:
        member = next((each for each in self._view.peers if each.node.name == node), None)
        if member is None or member.state is NodeState.LEFT:
            return False
        return self._view.age(member) < _BEATING


def _part_sender(link: NodeLink, token: CallbackToken | None) -> SendPart:
    async def send(part: bytes) -> None:
        if token is not None:
            await link.ask_back(token.progress_token, _PART, part)

    return send


def _unreachable(node: str) -> Disconnected:
    text = f'node "{node}" cannot be reached'
    error = Disconnected(text).because(Cause(Code.UNREACHABLE, text, CHECK_NODE, untaken=True))
    error.untaken = True
    return error
