"""Sealing what nobody may read who only has the database: backups and copies travel.

The key is a file of its own, made at the first use, or comes from MCPYARD_KEY, which may be any
text. `cryptography` takes a tenth of a second to import, so it waits for the first sign-in.
"""

import base64
import hashlib
import os
import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcpyard.store.atomic_files import write_private

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

_KEY_BYTES: Final = 32
_WORK: Final = 2**14
"""Makes guessing a text that a person chose costly: some 50 ms a guess."""


class Seal:
    """One key, found at its first use.

    Args:
        file: Where the key is, or is made, unless MCPYARD_KEY has one.
        text: The key itself, where every machine must have the same one.
        older: The key before, which opens what is not sealed with the new one yet.
        environment: Whether MCPYARD_KEY counts.
    """

    def __init__(
        self,
        file: Path | None = None,
        text: str = "",
        *,
        older: str = "",
        environment: bool = True,
    ) -> None:
        self._file = file
        self._text = text
        self._environment = environment
        self._fernet: Fernet | None = None
        self._finding = threading.Lock()
        self._older = Seal(text=older) if older else None

    def close(self, content: bytes) -> bytes:
        """Seal a content; blocks."""
        return self._key().encrypt(content)

    def open(self, sealed: bytes) -> bytes | None:
        """What was sealed; None when it was sealed with another key, or spoiled; blocks."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415  see above

        try:
            return self._key().decrypt(sealed)
        except InvalidToken:
            return self._older.open(sealed) if self._older else None

    def close_like(self, sample: bytes, content: bytes) -> bytes:
        """Seal a content with the key, of two, that a sample is sealed with; blocks."""
        if self._older and self._older.open(sample) is not None:
            return self._older.close(content)
        return self.close(content)

    def _key(self) -> "Fernet":
        from cryptography.fernet import Fernet  # noqa: PLC0415  see above

        with self._finding:
            if self._fernet is None:
                self._fernet = Fernet(self._find())
        return self._fernet

    def _find(self) -> bytes:
        text = self._text or (os.environ.get("MCPYARD_KEY", "") if self._environment else "")
        if text or self._file is None:
            return _from_text(text)
        if not self._file.exists():
            write_private(self._file, base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)))
        return self._file.read_bytes().strip()


def _from_text(text: str) -> bytes:
    key = hashlib.scrypt(text.encode(), salt=b"mcpyard", n=_WORK, r=8, p=1, dklen=_KEY_BYTES)
    return base64.urlsafe_b64encode(key)
