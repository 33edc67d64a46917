"""The audit log: one JSON line for each request that may have changed something.

It holds who, what and how it went, and nothing of bodies, headers or queries. So no secret can get
into it. Refused sign-ins stand in it too, as far as a flood of them cannot wash out the rest.
"""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from starlette.types import Message, Send

from mcpyard.api.rolling_file import LIMIT, RollingFile
from mcpyard.api.security.incoming import LOGIN, Incoming

BURST: Final = 20
"""Refusals for one reason that have a line each; others are counted."""

SUMMARY_AFTER: Final = 300.0
"""Seconds after which what was counted is a line, and one more refusal may have its own.

So a flood for every reason at once writes well below 1 MB a day.
"""

_LONGEST_PATH: Final = 500
_LONGEST_NAME: Final = 80
"""Characters of what a stranger sends."""
_DONE: Final = 200
_FORBIDDEN: Final = 403

log = logging.getLogger(__name__)


class Audit:
    """Notes requests in a file."""

    def __init__(
        self, path: Path, *, limit: int = LIMIT, summary_after: float = SUMMARY_AFTER
    ) -> None:
        self._file = RollingFile(path, limit=limit)
        self._refusals = _Refusals(self._write, summary_after)

    def noting(self, who: str, incoming: Incoming, send: Send) -> Send:
        """Note a request when its answer begins, which is when its work is done."""
        began = time.perf_counter()

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                status: int = message["status"]
                # Anybody may try a link; only one that was let in by it changed something.
                if incoming.changes or status == _DONE:
                    ms = round((time.perf_counter() - began) * 1000, 1)
                    self._write(_entry(incoming, status) | {"who": who, "ms": ms})
                elif status == _FORBIDDEN and incoming.path == LOGIN:
                    self.refuse("wrong-link", incoming, status)
            await send(message)

        return sending

    def refuse(
        self, reason: str, incoming: Incoming, status: int, *, who: str = "", name: str = ""
    ) -> None:
        """Note a sign-in that was refused.

        Args:
            reason: What was wrong, in a word.
            incoming: The request.
            status: What it was answered with.
            who: Whose token it was, where that is known.
            name: The host name or the origin that was refused.
        """
        entry = _entry(incoming, status) | {"refused": reason, "from": incoming.peer}
        entry["path"] = incoming.path[:_LONGEST_NAME]
        entry |= {"who": who} if who else {}
        entry |= {"name": name[:_LONGEST_NAME]} if name else {}
        self._refusals.add(reason, entry)

    def _write(self, entry: dict[str, object]) -> None:
        try:
            self._file.append(json.dumps(entry).encode() + b"\n")
        except OSError as error:
            # What was done is done: a full disk must not make a good answer a bad one.
            log.warning("the audit log cannot be written: %s", error.strerror)


class _Refusals:
    """Writes some refusals of each reason, and counts the others until the next summary."""

    def __init__(self, write: Callable[[dict[str, object]], None], summary_after: float) -> None:
        self._write = write
        self._summary_after = summary_after
        self._recent = Counter[str]()
        self._omitted = Counter[str]()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, reason: str, entry: dict[str, object]) -> None:
        if self._recent[reason] < BURST:
            self._recent[reason] += 1
            self._write(entry)
        else:
            self._omitted[reason] += 1
        if self._timer is None:
            self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._summary_after, self._summarize)

    def _summarize(self) -> None:
        omitted, self._omitted = self._omitted, Counter[str]()
        for reason, count in omitted.items():
            self._write({"at": _now(), "refused": reason, "count": count})
        # One line more for each reason.
        self._recent -= Counter(self._recent.keys())
        self._timer = None
        if self._recent:
            self._start()


def _entry(incoming: Incoming, status: int) -> dict[str, object]:
    return {
        "at": _now(),
        "method": incoming.method,
        "path": incoming.path[:_LONGEST_PATH],
        "status": status,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
