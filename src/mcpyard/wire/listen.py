"""Hearing of changes in the modern era: one long request, asked again whenever it ends.

There is no replay: what changed while nobody listened is unknown, so each new beginning counts as
a change of everything listened for.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from mcpyard.domain.errors import ServerFault
from mcpyard.wire.calls import Terms
from mcpyard.wire.eras import CallTerms
from mcpyard.wire.link import Busy
from mcpyard.wire.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from mcpyard.wire.modern import Modern, listen_filter
from mcpyard.wire.peer import LISTEN, Peer

_LONGEST_PAUSE: Final = 60.0
_NOT_OFFERED: Final = frozenset({METHOD_NOT_FOUND, INVALID_PARAMS})

OnChange = Callable[[str], None]
"""A list of the server changed: `tools`, `prompts` or `resources`."""


async def listen(
    peer: Peer, codec: Modern, capabilities: Mapping[str, Any], changed: OnChange, pause: float
) -> None:
    """Listen until the link is gone or the server offers no listening."""
    wanted = listen_filter(capabilities)
    loop = asyncio.get_running_loop()
    wait = pause
    while wanted and peer.gone is None:
        started = loop.time()
        if not await _listen_once(peer, codec, wanted):
            return
        # A stream that held for long ended by chance; one that ends at once will do so again.
        wait = pause if loop.time() - started > _LONGEST_PAUSE else min(2 * wait, _LONGEST_PAUSE)
        await asyncio.sleep(wait)
        for key in wanted:
            changed(key.removesuffix("ListChanged"))


async def _listen_once(peer: Peer, codec: Modern, wanted: Mapping[str, bool]) -> bool:
    """Listen until the stream ends; whether it is worth to listen again."""
    stamp = codec.stamp(LISTEN, None, CallTerms())
    try:
        await peer.wait(peer.start(LISTEN, {"notifications": wanted}, Terms(), stamp))
    except RpcError as error:
        return error.code not in _NOT_OFFERED
    except (ServerFault, Busy):
        return peer.gone is None
    return True
