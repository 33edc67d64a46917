"""Ends what the holder of a call token has open when the token expires.

A request is refused by the time of day. What is open already, a session or a stream, is ended by a
timer, which looks at the time of day again and again: a machine that sleeps stops timers.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from mcpyard.api.security.revocations import Revocations
from mcpyard.asgi_scope import Principal
from mcpyard.domain.ports import Clock
from mcpyard.domain.stored import CallToken

if TYPE_CHECKING:
    from uuid import UUID

_LOOK_AGAIN: Final = 30.0


class ExpiryTimers:
    """A timer for each token that expires and was used."""

    def __init__(self, revocations: Revocations, clock: Clock) -> None:
        self._revocations = revocations
        self._clock = clock
        self._watched: set[UUID] = set()

    def watch(self, token: CallToken) -> None:
        """Have a token's holder dismissed when the token expires."""
        if token.expires is not None and token.id not in self._watched:
            self._watched.add(token.id)
            self._look(token)

    def _look(self, token: CallToken) -> None:
        if token.expires is None or token.is_expired(now := self._clock.now()):
            self._watched.discard(token.id)
            self._revocations.dispatch(Principal.holding(token).name)
            return
        seconds = min(_LOOK_AGAIN, (token.expires - now).total_seconds())
        asyncio.get_running_loop().call_later(seconds, self._look, token)
