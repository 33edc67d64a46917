"""The log file of a yard: what happened, when, and no secret.

It lies in the home, is its owner's alone, and begins anew when it is full. A line that cannot be
written is lost: a full disk must not end a yard.
"""

import contextlib
import logging
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcpyard.api.rolling_file import LIMIT, RollingFile
from mcpyard.cli.commands.paths import LOG_FILE
from mcpyard.cli.output import clean
from mcpyard.domain.definition.merge import shown_url
from mcpyard.domain.definition.secrets import hide, secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpyard.domain.desired import Desired

# Only from the beginning of a word: to try each letter of a long one would take its square.
_ADDRESS: Final = re.compile(r"(?<!\w)\w++://\S+")
_BEARER: Final = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}")


class Redactor:
    """Masks what a log must not tell.

    Attributes:
        own: The yard's own secrets.
        desired: What the yard runs, with the secrets of its servers; None until there is one.
    """

    def __init__(self) -> None:
        self.own: frozenset[str] = frozenset()
        self.desired: Callable[[], Desired] | None = None
        self._seen: Desired | None = None
        self._secrets: frozenset[str] = frozenset()

    def __call__(self, text: str) -> str:
        """A text without secrets."""
        text = hide(text, self._known())
        text = _ADDRESS.sub(lambda found: shown_url(found.group()), text)
        return _BEARER.sub(r"\1 ***", text)

    def _known(self) -> frozenset[str]:
        desired = self.desired() if self.desired else None
        if desired is not None and desired is not self._seen:
            self._seen = desired
            launches = (each.launch for each in desired.servers.values())
            # What was a secret stays one, also when its server is gone.
            self._secrets = self._secrets.union(*map(secrets_of, launches))
        return self._secrets | self.own


class RedactingFormatter(logging.Formatter):
    """Spells a record without its secrets; its further lines are indented, lest they pass for one.

    The times are UTC.
    """

    converter = time.gmtime

    def __init__(self, layout: str, veil: Redactor) -> None:
        super().__init__(layout, "%Y-%m-%dT%H:%M:%S")
        self._veil = veil

    def format(self, record: logging.LogRecord) -> str:
        """The text of a record."""
        return clean(self._veil(super().format(record))).replace("\n", "\n    ")


class LogFile(logging.Handler):
    """Writes log records to a yard's log file."""

    def __init__(self, home: Path, veil: Redactor, *, limit: int = LIMIT) -> None:
        super().__init__()
        layout = "%(asctime)s.%(msecs)03dZ %(levelname)s %(message)s"
        self.setFormatter(RedactingFormatter(layout, veil))
        self._file = RollingFile(home / LOG_FILE, limit=limit)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        with contextlib.suppress(OSError):
            self._file.append(f"{self.format(record)}\n".encode(errors="replace"))
