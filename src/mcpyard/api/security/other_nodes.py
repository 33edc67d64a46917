"""What the nodes of a cluster do together about who may come in.

Tokens and browsers are in the database; what is taken away is made known over the links besides, so
that whoever took it away knows where it still works. A ticket and a sign-in at a remote server are
held by the node that began them, whose name they carry.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, Protocol

import msgspec
from msgspec import Struct

from mcpyard.api.security.revocations import Revocations
from mcpyard.domain.errors import Disconnected, Problem, SignInUnknown, StoreAway, YardError
from mcpyard.domain.node_channel import NodeChannel, RevokedKey, SendPart, owner_of

CONFIRM_SECONDS: Final = 2.0
"""How long a revocation waits, from its request on."""

_LEAST_CONFIRM_SECONDS: Final = 0.5
"""For the other nodes, however long the database took: a frozen one can hold it up."""

_CATCH_UP_SECONDS: Final = 1.0
_PASS_ON_SECONDS: Final = 1.5
"""For nodes that a node tells in turn: longer than one without the database takes to catch up."""

_SIGN_IN_SECONDS: Final = 60.0
_TICKET_SECONDS: Final = 5.0

_REVOKED: Final = "revoked"
_TICKET: Final = "ticket"
_SIGN_IN: Final = "sign-in"
_DONE: Final = b"{}"

FinishSignIn = Callable[[Mapping[str, str]], Coroutine[Any, Any, str]]
"""Takes what a browser brought back; the name of the server."""

RedeemTicket = Callable[[str, str], bool]
"""Uses a ticket of the browser with this hash of its cookie up; whether it was good."""


class SharedKeys(Protocol):
    """The keys that a cluster shares, as a node has them."""

    @property
    def written(self) -> int:
        """The revision of this node's last change."""
        ...

    async def reached(self, rev: int) -> None:
        """Return when this node knows every change up to a revision."""
        ...

    async def set_admin(self, token_hash: str) -> None:
        """Let a token open every node, in the place of the one before."""
        ...

    def revoke_elsewhere(self, key: RevokedKey) -> None:
        """Take over that another node took a key away, before the database says so."""
        ...


class Confirmation(Struct, frozen=True):
    """That somebody is shut out.

    Attributes:
        unconfirmed: The nodes that were told in turn and did not confirm.
    """

    unconfirmed: tuple[str, ...] = ()


class TicketQuestion(Struct, frozen=True):
    """Whether a ticket is good for a browser."""

    ticket: str
    cookie_hash: str


_read_key: Final = msgspec.json.Decoder(RevokedKey).decode
_read_confirmation: Final = msgspec.json.Decoder(Confirmation).decode
_read_ticket: Final = msgspec.json.Decoder(TicketQuestion).decode
_read_bool: Final = msgspec.json.Decoder(bool).decode
_read_answer: Final = msgspec.json.Decoder(dict[str, str]).decode
_read_text: Final = msgspec.json.Decoder(str).decode


class OtherNodes:
    """The other nodes, where somebody comes in or is shut out.

    Args:
        channel: The way to them.
        shared: What this node has of the keys that all share.
        revocations: Who hears here of a key that was taken away.
        redeem: Uses up a ticket that was issued here.
        finish_sign_in: Finishes a sign-in that was begun here.
    """

    def __init__(
        self,
        channel: NodeChannel,
        shared: SharedKeys,
        revocations: Revocations,
        redeem: RedeemTicket,
        finish_sign_in: FinishSignIn,
    ) -> None:
        self._channel = channel
        self._shared = shared
        self._revocations = revocations
        self._redeem = redeem
        self._finish_sign_in = finish_sign_in
        channel.answer_with(_REVOKED, self._on_revoked)
        channel.answer_with(_TICKET, self._on_ticket)
        channel.answer_with(_SIGN_IN, self._on_sign_in)

    @property
    def node(self) -> str:
        """The name of this node."""
        return self._channel.node

    async def revoke(self, key: RevokedKey, waited: float = 0.0) -> list[str]:
        """Have all nodes shut somebody out; the names of those that did not confirm in time.

        Args:
            key: What was taken away.
            waited: Seconds that the database already took.
        """
        within = max(_LEAST_CONFIRM_SECONDS, CONFIRM_SECONDS - waited)
        loop = asyncio.get_running_loop()
        until = loop.time() + within
        nodes = await self._channel.others(within / 2)
        recipients = self.node, *nodes
        news = msgspec.structs.replace(key, rev=self._shared.written, recipients=recipients)
        return sorted(await self._unconfirmed(news, nodes, until - loop.time()))

    async def share_admin(self, token_hash: str) -> None:
        """Let another admin token open every node.

        Raises:
            StoreAway: The database cannot be reached.
        """
        await self._shared.set_admin(token_hash)

    async def redeem(self, ticket: str, cookie_hash: str) -> bool:
        """Use up a ticket that another node issued; whether it was good."""
        node = owner_of(ticket)
        if node in ("", self.node):
            return False
        question = msgspec.json.encode(TicketQuestion(ticket, cookie_hash))
        try:
            return _read_bool(
                await self._channel.ask(node, _TICKET, question, within=_TICKET_SECONDS)
            )
        except YardError:
            return False

    async def finish_sign_in(self, answer: Mapping[str, str]) -> str | None:
        """Have the node that began a sign-in finish it; None if that is this one.

        Raises:
            SignInUnknown: That node is gone, or does not know it.
            YardError: What went wrong there.
        """
        node = owner_of(answer.get("state", ""))
        if node in ("", self.node):
            return None
        params = msgspec.json.encode(dict(answer))
        try:
            return _read_text(
                await self._channel.ask(node, _SIGN_IN, params, within=_SIGN_IN_SECONDS)
            )
        except Disconnected as error:
            if not error.untaken:
                raise
            message = "belongs to a sign-in at a node that is gone; start again"
            raise SignInUnknown.of(Problem("state", message)) from None

    async def _unconfirmed(
        self, key: RevokedKey, nodes: Sequence[str], within: float
    ) -> frozenset[str]:
        """Tell nodes of a key; those of them, and those they told in turn, that do not confirm."""
        answers = await self._channel.ask_each(nodes, _REVOKED, msgspec.json.encode(key), within)
        late = {node for node, confirmed in answers.items() if confirmed is None}
        return frozenset(late).union(
            *(_read_confirmation(each).unconfirmed for each in answers.values() if each)
        )

    async def _on_revoked(self, params: bytes, _send: SendPart) -> bytes:
        """Shut somebody out, also at nodes that whoever revoked the key has no way to."""
        key = _read_key(params)
        nodes = [each for each in self._channel.linked if each not in key.recipients]
        if not key.recipients or not nodes:
            await self._shut_out(key)
            return _DONE
        onward = msgspec.structs.replace(key, recipients=(*key.recipients, *nodes))
        unconfirmed, _ = await asyncio.gather(
            self._unconfirmed(onward, nodes, _PASS_ON_SECONDS), self._shut_out(key)
        )
        return msgspec.json.encode(Confirmation(tuple(unconfirmed)))

    async def _shut_out(self, key: RevokedKey) -> None:
        self._shared.revoke_elsewhere(key)
        try:
            async with asyncio.timeout(_CATCH_UP_SECONDS):
                await self._shared.reached(key.rev)
        except TimeoutError:
            # The database is away for this node. Of a token or a browser all is said already.
            if key.token is None and not key.cookie_hash:
                text = "only the database says which admin token is valid"
                raise StoreAway(text) from None
        self._shared.revoke_elsewhere(key)
        self._revocations.dispatch(key.who)

    async def _on_ticket(self, params: bytes, _send: SendPart) -> bytes:
        question = _read_ticket(params)
        return msgspec.json.encode(self._redeem(question.ticket, question.cookie_hash))

    async def _on_sign_in(self, params: bytes, _send: SendPart) -> bytes:
        return msgspec.json.encode(await self._finish_sign_in(_read_answer(params)))
