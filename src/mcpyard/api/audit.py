"""The audit log: one JSON line for each request that may have changed something.

It holds who, what and how it went, and nothing of bodies, headers or queries. So no secret can get
into it.
"""

import json
import logging
import os
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Final

from starlette.types import Message, Send

from mcpyard.api.guard_incoming import Incoming

LIMIT: Final = 5 * 1024 * 1024
"""Bytes after which a new file begins."""

KEPT: Final = 3
"""Earlier files that are kept."""

_OLDER: Final = range(1, KEPT + 1)
_LONGEST_PATH: Final = 500
_DONE: Final = 200

log = logging.getLogger(__name__)


class Audit:
    """Appends to a file, and begins a new one when it is full."""

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit

    def noting(self, who: str, incoming: Incoming, send: Send) -> Send:
        """Note a request when its answer begins, which is when its work is done."""
        began = time.perf_counter()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status: int = message["status"]
                # Anybody may try a link; only one that was let in by it changed something.
                if incoming.changes or status == _DONE:
                    self._note(who, incoming, status, (time.perf_counter() - began) * 1000)
            await send(message)

        return sending

    def _note(self, who: str, incoming: Incoming, status: int, ms: float) -> None:
        entry = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "who": who,
            "method": incoming.method,
            "path": incoming.path[:_LONGEST_PATH],
            "status": status,
            "ms": round(ms, 1),
        }
        try:
            self._append(json.dumps(entry).encode() + b"\n")
        except OSError as error:
            # What was done is done: a full disk must not make a good answer a bad one.
            log.warning("the audit log cannot be written: %s", error.strerror)

    def _append(self, line: bytes) -> None:
        if self._size() + len(line) > self._limit:
            self._begin_anew()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._path, flags, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def _begin_anew(self) -> None:
        files = [self._path, *(self._path.with_name(f"{self._path.name}.{n}") for n in _OLDER)]
        for newer, older in reversed([*pairwise(files)]):
            if newer.exists():
                newer.replace(older)
