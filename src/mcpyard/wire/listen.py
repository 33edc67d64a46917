"""Listening for changes in the modern era: one long request, sent again whenever it ends.

There is no replay: what changed while nobody listened is unknown, so each new beginning counts as
a change of everything listened for.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from mcpyard.domain.errors import ServerFault
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from mcpyard.wire.link import Busy
from mcpyard.wire.modern import Modern, listen_filter
from mcpyard.wire.peer import LISTEN, Peer

if TYPE_CHECKING:
    from mcpyard.wire.pending import PendingCall

_LONGEST_PAUSE: Final = 60.0
_NOT_OFFERED: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})

OnChange = Callable[[str], None]
"""A list of the server changed: `tools`, `prompts` or `resources`."""


class ChangeStream:
    """Listens for the changes of one server's lists, and of the resources somebody watches."""

    def __init__(
        self, peer: Peer, codec: Modern, capabilities: Mapping[str, Any], pause: float
    ) -> None:
        self._peer = peer
        self._codec = codec
        self._lists = listen_filter(capabilities)
        self._pause = pause
        self._uris: frozenset[str] = frozenset()
        self._call: PendingCall | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed: OnChange = _ignore
        self._renewed = False
        self._stopped = False

    def start(self, changed: OnChange) -> None:
        """Begin to listen."""
        self._changed = changed
        if self._task is None and self._filter():
            self._task = asyncio.get_running_loop().create_task(self._listen())

    def watch(self, uris: frozenset[str]) -> None:
        """Listen for the changes of these resources too, and of no others."""
        if uris == self._uris or self._stopped:
            return
        self._uris = uris
        if self._task is None or self._task.done():
            self._task = None
            self.start(self._changed)
        elif self._call is not None:
            # The filter of a stream cannot be changed, so another one takes its place.
            self._renewed = True
            self._peer.drop(self._call)
            self._call.future.cancel()

    async def stop(self) -> None:
        """Listen no more."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def _filter(self) -> dict[str, Any]:
        if not self._uris:
            return self._lists
        return {**self._lists, "resourceSubscriptions": sorted(self._uris)}

    async def _listen(self) -> None:
        """Listen until the link is gone or the server offers no listening."""
        loop = asyncio.get_running_loop()
        wait = self._pause
        while (subscription := self._filter()) and self._peer.gone is None:
            started = loop.time()
            self._renewed = False
            if not await self._listen_once(subscription):
                return
            if self._renewed:
                continue
            # A stream that held for long ended by chance; one that ends at once will do so again.
            held = loop.time() - started > _LONGEST_PAUSE
            wait = self._pause if held else min(2 * wait, _LONGEST_PAUSE)
            await asyncio.sleep(wait)
            for key in self._lists:
                self._changed(key.removesuffix("ListChanged"))

    async def _listen_once(self, subscription: Mapping[str, Any]) -> bool:
        """Listen until the stream ends; whether it is worth to listen again."""
        extras = self._codec.extras(LISTEN, None, CallTerms())
        try:
            self._call = self._peer.start(
                LISTEN, {"notifications": subscription}, CallTerms(), extras
            )
            await self._peer.wait(self._call)
        except asyncio.CancelledError:
            if self._stopped or not self._renewed:
                raise
        except RpcError as error:
            return error.code not in _NOT_OFFERED
        except (ServerFault, Busy):
            return self._peer.gone is None
        finally:
            self._call = None
        return True


def _ignore(_kind: str) -> None:
    """Nobody listens yet."""
