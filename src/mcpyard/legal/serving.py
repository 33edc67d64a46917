"""Running the server over a transport."""

import signal
import socket
import sys
from enum import StrEnum
from pathlib import Path
from typing import Final

import uvicorn

from mcpyard.legal.collection import Collection
from mcpyard.legal.notices import say_here
from mcpyard.legal.server import make_server

_CLOSING_SECONDS: Final = 3


class ServingMode(StrEnum):
    """How clients reach the server."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"


def serve(folder: Path, transport: ServingMode, host: str, port: int) -> None:
    """Serve until the client is gone (stdio), or until told to end.

    Raises:
        NotACorpus: The corpus can't be read.
        OSError: The address can't be taken.
    """
    collection = Collection(folder)
    try:
        # A corpus that can't be read is said now, not in the middle of a conversation.
        collection.library()
        if transport is ServingMode.STDIO:
            # The thread that waits for the next line can't be interrupted; this ends it all.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            make_server(collection).run("stdio")
        else:
            _listen(collection, transport, host, port)
    finally:
        collection.close()


def _listen(collection: Collection, transport: ServingMode, host: str, port: int) -> None:
    server = make_server(collection)
    over_http = transport is ServingMode.HTTP
    app = server.streamable_http_app(host=host) if over_http else server.sse_app(host=host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listener:
        taken = listener.getsockname()[1]
        shown_host = f"[{host}]" if ":" in host else host
        address = f"http://{shown_host}:{taken}/{'mcp' if over_http else 'sse'}"
        # Clients may connect from here on: the socket listens, and holds them until we answer.
        sys.stderr.write(f"mcpyard-legal: {say_here('listening', address=address)}\n")
        sys.stderr.flush()
        config = uvicorn.Config(
            app, log_level="warning", timeout_graceful_shutdown=_CLOSING_SECONDS
        )
        uvicorn.Server(config).run(sockets=[listener])
