"""The audit log: one JSON line for each request that may have changed something.

It holds who, what and how it went, and nothing of bodies, headers or queries. So no secret can get
into it.
"""

import json
import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from starlette.types import Message, Send

from mcpyard.api.rolling_file import LIMIT, RollingFile
from mcpyard.api.security.incoming import Incoming

_LONGEST_PATH: Final = 500
_DONE: Final = 200

log = logging.getLogger(__name__)


class Audit:
    """Notes requests in a file."""

    def __init__(self, path: Path, *, limit: int = LIMIT) -> None:
        self._file = RollingFile(path, limit=limit)

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
            self._file.append(json.dumps(entry).encode() + b"\n")
        except OSError as error:
            # What was done is done: a full disk must not make a good answer a bad one.
            log.warning("the audit log cannot be written: %s", error.strerror)
