"""The log file: what happened and when, without secrets.

It is in the home, readable by its owner only, and rotated when it is full. A line that cannot be
written is lost: a full disk must not end mcpyard.
"""

import contextlib
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcpyard.api.rolling_file import LIMIT, RollingFile
from mcpyard.cli.home_files import LOG_FILE
from mcpyard.cli.output import clean
from mcpyard.domain.definition.secret_text import hide, shown_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpyard.domain.desired import Desired


class Redactor:
    """Masks secrets.

    Attributes:
        own: The secrets of mcpyard itself.
        desired: The servers with their secrets; None until they are read.
    """

    def __init__(self) -> None:
        self.own: frozenset[str] = frozenset()
        self.desired: Callable[[], Desired] | None = None
        self._seen: Desired | None = None
        self._secrets: frozenset[str] = frozenset()

    def __call__(self, text: str) -> str:
        """A text without secrets."""
        self._learn()
        return shown_text(hide(text, [each for each in self._secrets | self.own if each in text]))

    def _learn(self) -> None:
        desired = self.desired() if self.desired else None
        if desired is None or desired is self._seen:
            return
        # The first lines are written before definitions are loaded.
        from mcpyard.domain.definition.secrets import secrets_of

        # To look at the texts of thousands of servers at each change would hold up everything.
        before = self._seen.servers.values() if self._seen else ()
        same = {id(each.launch) for each in before}
        launches = (each.launch for each in desired.servers.values())
        changed = [launch for launch in launches if id(launch) not in same]
        # A secret stays one when its server is removed.
        self._secrets = self._secrets.union(*map(secrets_of, changed))
        self._seen = desired


class RedactingFormatter(logging.Formatter):
    """Formats a record without its secrets; indents further lines, which could look like a record.

    The times are UTC.
    """

    converter = time.gmtime

    def __init__(self, layout: str, redactor: Redactor) -> None:
        super().__init__(layout, "%Y-%m-%dT%H:%M:%S")
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        """The text of a record."""
        return clean(self._redactor(super().format(record))).replace("\n", "\n    ")


class LogFile(logging.Handler):
    """Writes log records to the log file."""

    def __init__(self, home: Path, redactor: Redactor, *, limit: int = LIMIT) -> None:
        super().__init__()
        layout = "%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s"
        self.setFormatter(RedactingFormatter(layout, redactor))
        self._file = RollingFile(home / LOG_FILE, limit=limit)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        with contextlib.suppress(OSError):
            self._file.append(f"{self.format(record)}\n".encode(errors="replace"))
