"""Ends what the holder of a call token has open when the token expires.

A request is refused by the time of day. What is open already, a session or a stream, is ended by a
timer, which looks at the time of day again and again: a machine that sleeps stops timers.
"""

import asyncio
from typing import TYPE_CHECKING, Final

from mcpyard.api.security.keys import Keys
from mcpyard.asgi_scope import Principal
from mcpyard.domain.stored import CallToken

if TYPE_CHECKING:
    from uuid import UUID

_LOOK_AGAIN: Final = 30.0


class ExpiryTimers:
    """A timer for each token that expires and was used."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._watched: set[UUID] = set()

    def watch(self, token: CallToken) -> None:
        """Have a token's holder dismissed when the token expires."""
        if token.expires is not None and token.id not in self._watched:
            self._watched.add(token.id)
            self._look(token)

    def _look(self, token: CallToken) -> None:
        now = self._keys.clock.now()
        if token.expires is not None and not token.is_expired(now):
            seconds = min(_LOOK_AGAIN, (token.expires - now).total_seconds())
            asyncio.get_running_loop().call_later(seconds, self._look, token)
            return
        self._watched.discard(token.id)
        # Of a token that was revoked before, another one may have the name by now.
        if self._keys.tokens.by_hash(token.hash):
            self._keys.revocations.dispatch(Principal.holding(token).name)
