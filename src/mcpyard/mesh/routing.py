"""The way of a call that is not simply near: to another node, or after a wait.

A call is sent once. It is sent again only if the node that got it says that it did not take it, or
if its server moved while the call waited there to begin.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from math import inf
from typing import Any, Final
from uuid import UUID

from msgspec.structs import replace

from mcpyard.cluster.admission import Verdict
from mcpyard.cluster.node_view import NodeView
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.cluster import Placement
from mcpyard.domain.errors import (
    Disconnected,
    NotHere,
    ServerFault,
    ServerUnknown,
    TimedOut,
)
from mcpyard.domain.ports import CallTerms, Servers
from mcpyard.mesh.node_link import NodeLink
from mcpyard.mesh.picture import CHECK_NODE, LEASE_EXPIRED, NO_NODE, ClusterPicture
from mcpyard.mesh.questions import ServerQuestion
from mcpyard.wire.change_signal import ChangeSignal

LONGEST_WAIT: Final = 10.0
"""Seconds a call waits for a server that has no node, or whose node just woke.

While a server moves as planned, a call waits for as long as its own limit allows.
"""

_SURELY_LATER: Final = 2.5
"""Seconds after the loss of a link from which on a beat shows that the node outlived it."""

FetchLink = Callable[[str], NodeLink | None]
LearnPlacement = Callable[[Placement], bool]


class CallRouter:
    """Finds the node of a call and waits for it.

    Attributes:
        changes: Happens whenever a call that waits may go on.
        last_beat: When a node was last seen beating, by the clock of the view; 0 for never.
        lost_at: When the link to a node was lost.
    """

    def __init__(
        self,
        local: Servers,
        view: NodeView,
        picture: ClusterPicture,
        link_to: FetchLink,
        learn: LearnPlacement,
    ) -> None:
        self._local = local
        self._view = view
        self._picture = picture
        self._link_to = link_to
        self._learn = learn
        self._began = view.admission.look()
        self.changes = ChangeSignal()
        self.last_beat: dict[str, float] = {}
        self.lost_at: dict[str, float] = {}

    def admits(self, server: UUID) -> bool:
        """Whether a call of a server that waited here for its turn may begin here still."""
        singleton = self._picture.singletons.get(server)
        if singleton is None:
            return True
        return self._view.admission.check(server, singleton=singleton) is Verdict.HERE

    async def near(self, server: UUID, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        """Call a tool of a server that this node may run at this moment."""
        began = asyncio.get_running_loop().time()
        try:
            work = self._local.call(server, tool, arguments, terms)
        except ServerUnknown:
            # Placed here a moment ago: it is about to be started.
            return await self.ask(server, ServerQuestion(tool, arguments), terms)
        try:
            return await work
        except ServerFault as fault:
            if not self._has_left(server, fault):
                raise
        return await self.ask(server, ServerQuestion(tool, arguments), terms, began)

    async def ask(
        self, server: UUID, question: ServerQuestion, terms: CallTerms, began: float | None = None
    ) -> bytes:
        """Ask a server for a caller of this node, who has waited since a moment."""
        wait = _CallTime(terms, began)
        while True:
            placement = self._elsewhere(server, 0)
            if server not in self._picture.singletons:
                raise ServerUnknown("the server was removed")
            if placement is None:
                if (work := self._here(server, question, wait.terms(), 0)) is not None:
                    again = partial(self.ask, server, question, terms, wait.began)
                    return await self._unless_moved(server, work, again)
            elif link := self._link_to(placement.node):
                remaining = wait.terms()
                message = question.message(server, placement.fence, remaining)
                try:
                    return await link.call(message, remaining)
                except NotHere as moved:
                    if self._has_moved(placement, moved.placement):
                        # It may have waited there for calls that the server finished.
                        wait.begin_anew()
                        continue
            else:
                self._check_node(placement.node)
            await self._change(server, wait)

    def answer(
        self, server: UUID, fence: int, question: ServerQuestion, terms: CallTerms
    ) -> Coroutine[Any, Any, bytes]:
        """Ask a server of this node for a caller of another one.

        Raises:
            NotHere: This node does not run it.
        """
        began = asyncio.get_running_loop().time()
        later = partial(self._answer_later, server, fence, question, terms, began)
        work = self._here(server, question, terms, fence)
        return later() if work is None else self._unless_moved(server, work, later)

    async def _answer_later(
        self, server: UUID, fence: int, question: ServerQuestion, terms: CallTerms, began: float
    ) -> bytes:
        wait = _CallTime(terms, began)
        while True:
            if placement := self._elsewhere(server, fence):
                text = f'node "{placement.node}" runs the server by now'
                raise NotHere(text).placed(placement)
            if (work := self._here(server, question, wait.terms(), fence)) is not None:
                later = partial(self._answer_later, server, fence, question, terms, began)
                return await self._unless_moved(server, work, later)
            await self._change(server, wait)

    async def _unless_moved(
        self,
        server: UUID,
        work: Coroutine[Any, Any, bytes],
        again: Callable[[], Coroutine[Any, Any, bytes]],
    ) -> bytes:
        """What a question gives; asked again if it waited here until its server moved."""
        try:
            return await work
        except ServerFault as fault:
            if not self._has_left(server, fault):
                raise
        return await again()

    def _has_left(self, server: UUID, fault: ServerFault) -> bool:
        """Whether a call failed before it began, for its server that is to run elsewhere."""
        return isinstance(fault, NotHere) or (fault.untaken and not self.admits(server))

    def _elsewhere(self, server: UUID, fence: int) -> Placement | None:
        """The placement of a server that this node knows to be another node's."""
        placement = self._view.admission.placements.get(server)
        if placement is None or placement.fence < fence or not placement.node:
            return None
        return placement if placement.node != self._view.name else None

    def _here(
        self, server: UUID, question: ServerQuestion, terms: CallTerms, fence: int
    ) -> Coroutine[Any, Any, bytes] | None:
        """What asks a server of this node; None while it cannot be asked."""
        admission = self._view.admission
        singleton = self._picture.singletons.get(server)
        placement = admission.placements.get(server)
        if singleton is None or placement is None or placement.fence < fence:
            return None
        if admission.check(server, singleton=singleton) is not Verdict.HERE:
            return None
        try:
            return question.ask(self._local, server, terms)
        except ServerUnknown:
            # Placed here a moment ago: it is about to be started.
            return None

    def _has_moved(self, before: Placement, newer: Placement | None) -> bool:
        """Whether a server has another place by now, which this node may have heard of already."""
        if newer is not None:
            self._learn(newer)
        placement = self._view.admission.placements.get(before.server)
        return placement is not None and placement.fence > before.fence

    def _check_node(self, node: str) -> None:
        """Refuse a call to a node that lives and cannot be reached: waiting would not help."""
        lost_at = self.lost_at.get(node, self._began)
        if self.last_beat.get(node, 0.0) > lost_at + _SURELY_LATER:
            raise unreachable(node)

    async def _change(self, server: UUID, wait: "_CallTime") -> None:
        placement = self._view.admission.placements.get(server)
        if placement is not None and placement.next_node:
            # Its calls in flight finish where it was, for as long as they may take.
            wait.begin_anew()
        try:
            await self.changes.wait(wait.left())
        except TimeoutError:
            if wait.is_over:
                raise TimedOut("the server did not get a node in time", sent=False) from None
            if wait.left() <= 0:
                raise self._nobody(server, placement) from None

    def _nobody(self, server: UUID, placement: Placement | None) -> Disconnected:
        """Why nobody answered for a server in time."""
        if self._picture.has_no_lease(server):
            return _untaken(LEASE_EXPIRED)
        node = placement.node if placement else ""
        return unreachable("" if node == self._view.name else node)


class _CallTime:
    """How long a call may wait, and what is left of its own limit."""

    def __init__(self, terms: CallTerms, began: float | None = None) -> None:
        self._terms = terms
        self._now = asyncio.get_running_loop().time
        self.began = self._now() if began is None else began
        self._own_end = inf if terms.timeout is None else self.began + terms.timeout
        self._until = self.began
        self.begin_anew()

    def begin_anew(self) -> None:
        """Let it wait for as long as any call does, within its own limit, from now on."""
        self._until = min(self._own_end, self._now() + LONGEST_WAIT)

    @property
    def is_over(self) -> bool:
        """Whether the limit of the call itself ran out."""
        return self._own_end <= self._now()

    def left(self) -> float:
        """Seconds that it may still wait."""
        return self._until - self._now()

    def terms(self) -> CallTerms:
        """The terms of the call with what is left of its limit."""
        timeout = self._terms.timeout
        waited = self._now() - self.began
        if timeout is None or waited < 0.001:  # noqa: PLR2004  the usual case
            return self._terms
        return replace(self._terms, timeout=max(0.001, timeout - waited))


def unreachable(node: str) -> Disconnected:
    """Why a node was not asked."""
    text = f'node "{node}" cannot be reached' if node else "no node runs the server at the moment"
    hint = CHECK_NODE if node else NO_NODE.hint
    return _untaken(Cause(Code.UNREACHABLE, text, hint, untaken=True))


def _untaken(cause: Cause) -> Disconnected:
    error = Disconnected(cause.message).because(cause)
    error.untaken = True
    return error
