"""Loads what speaks HTTP to remote servers, with the first of them.

Most yards have no remote server. Loading takes a while, so it is done in a thread, and calls of
other servers go on.
"""

import asyncio
from importlib import import_module
from typing import Final

_PARTS: Final = ("signin", "sse", "streamable_http")


async def load_remote_parts() -> None:
    """Return when importing any part of `wire.remote` costs nothing any more."""
    await asyncio.to_thread(_load)


def _load() -> None:
    for each in _PARTS:
        import_module(f"mcpyard.wire.remote.{each}")
