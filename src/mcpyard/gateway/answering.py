"""What becomes of a request of a session: its result, or why there is none, as its answer."""

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from mcpyard.asgi_scope import SendWhole
from mcpyard.domain.errors import YardError
from mcpyard.gateway.exchange import PLAIN, Exchange, succeed_at_once
from mcpyard.gateway.refusing import OUR_MISTAKE, rpc_error
from mcpyard.gateway.sessions import ClientSession
from mcpyard.wire.jsonrpc import Id, RpcError, failure

Work = Callable[[Exchange], Awaitable[bytes]]
"""Makes the result of a request, which may send something to the client meanwhile."""

log = logging.getLogger(__name__)


def answer(
    exchange: Exchange, number: Id, result: bytes, refusal: RpcError | None
) -> Coroutine[Any, Any, None]:
    """Answer a request with a result, or with why there is none."""
    if refusal is None:
        return exchange.succeed(number, result)
    return exchange.answer(failure(number, refusal))


def answer_at_once(whole: SendWhole, number: Id, result: bytes, refusal: RpcError | None) -> bool:
    """The same in one piece; False when that is not possible."""
    if refusal is None:
        return succeed_at_once(whole, number, result)
    return whole(200, PLAIN, failure(number, refusal))


async def outcome(
    session: ClientSession, number: Id, exchange: Exchange, work: Work
) -> tuple[bytes, RpcError | None]:
    """The result of some work, or why there is none."""
    session.running[number] = exchange
    try:
        return await work(exchange), None
    except Exception as error:  # noqa: BLE001  whatever it is, the client gets an answer
        return b"", refusal_of(error)
    finally:
        # Before the client can know the answer and use the id again.
        session.running.pop(number, None)


def refusal_of(error: Exception) -> RpcError:
    """What a client is told of an error; a mistake of ours is logged."""
    if isinstance(error, RpcError | YardError):
        return rpc_error(error)
    log.error("a request failed in the gateway itself", exc_info=error)
    return OUR_MISTAKE
