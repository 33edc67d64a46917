"""The little that an HTTP link must know of a message: whose answer it is.

Without that it could not tell an answer stream that is complete from one that was cut.
"""

from mcpyard.wire.jsonrpc import METHOD_NOT_FOUND, read, read_batch, read_error


def answers(frame: bytes, request: int) -> bool:
    """Whether a message, or one of a batch, is the answer to a request."""
    try:
        if frame.lstrip().startswith(b"["):
            return any(answers(element, request) for element in read_batch(frame))
        message = read(frame)
    except (ValueError, RecursionError):
        return False
    return message.method is None and message.id == request


def rpc_error(body: bytes, request: int) -> bytes | None:
    """The JSON-RPC error in the body of an HTTP refusal, as the answer to this request.

    A server that refuses before it has read the id answers with none, or with one of its own.
    """
    try:
        message = read(body)
    except (ValueError, RecursionError):
        return None
    if not message.failed:
        return None
    if message.id == request:
        return body
    return b'{"jsonrpc":"2.0","id":%d,"error":%b}' % (request, bytes(message.error))


def method_unknown(body: bytes) -> bool:
    """Whether the body of an HTTP refusal says that the method is unknown."""
    try:
        message = read(body)
    except (ValueError, RecursionError):
        return False
    return message.failed and read_error(message.error).code == METHOD_NOT_FOUND
