"""Lines for a reader that may be slow, stopped or gone.

A thread writes them, so that a full pipe or a stopped terminal blocks nothing else. The queue is
bounded: when it is full, everything in it is replaced by one line that says so.
"""

import logging
import os
import select
import threading
from collections import deque
from typing import Final

QUEUE_LIMIT: Final = 1_000

STDOUT: Final = 1
STDERR: Final = 2


class LineWriter:
    """Writes to a descriptor, from a thread of its own."""

    def __init__(self, fd: int, overflow: bytes, limit: int = QUEUE_LIMIT) -> None:
        self._fd = fd
        self._overflow = overflow
        self._limit = limit
        self._queue: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._gone = False
        # A thread that hangs in a write must not keep the program from ending.
        self._thread = threading.Thread(target=self._work, name="stdout", daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Queue a line; never waits."""
        with self._changed:
            if self._gone:
                return
            if len(self._queue) >= self._limit:
                self._queue.clear()
                line = self._overflow
            self._queue.append(line)
            self._changed.notify()

    def close(self, within: float = 1.0) -> None:
        """Write what is queued, if its reader reads it soon."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(within)

    def _work(self) -> None:
        while (data := self._next()) is not None:
            try:
                self._write(data)
            except OSError:
                # The reader is gone, which is no reason to end.
                with self._changed:
                    self._gone = True
                    self._queue.clear()
                return

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:
                # Whoever gave us the descriptor may have made it non-blocking.
                select.select([], [self._fd], [])

    def _next(self) -> bytes | None:
        with self._changed:
            while not self._queue:
                if self._closing:
                    return None
                self._changed.wait()
            return self._queue.popleft()


class LogHandler(logging.Handler):
    """Log records as such lines: a log that nobody reads must not block mcpyard either."""

    def __init__(self, fd: int) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
        self._writer = LineWriter(fd, b"(some log lines were dropped)\n")

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record."""
        self._writer.put(f"{self.format(record)}\n".encode(errors="replace"))

    def close(self) -> None:
        """Write what is queued."""
        self._writer.close()
        super().close()
