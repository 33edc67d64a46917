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
    """One key, found at its first use."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._fernet: Fernet | None = None
        self._finding = threading.Lock()

    def close(self, content: bytes) -> bytes:
        """Seal a content; blocks."""
        return self._key().encrypt(content)

    def open(self, sealed: bytes) -> bytes | None:
        """What was sealed; None when it was sealed with another key, or spoiled; blocks."""
        from cryptography.fernet import InvalidToken  # noqa: PLC0415  see above

        try:
            return self._key().decrypt(sealed)
        except InvalidToken:
            return None

    def _key(self) -> "Fernet":
        from cryptography.fernet import Fernet  # noqa: PLC0415  see above

        with self._finding:
            if self._fernet is None:
                self._fernet = Fernet(_from_environment() or self._from_file())
        return self._fernet

    def _from_file(self) -> bytes:
        if not self._file.exists():
            write_private(self._file, base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)))
        return self._file.read_bytes().strip()


def _from_environment() -> bytes | None:
    text = os.environ.get("MCPYARD_KEY")
    if not text:
        return None
    key = hashlib.scrypt(text.encode(), salt=b"mcpyard", n=_WORK, r=8, p=1, dklen=_KEY_BYTES)
    return base64.urlsafe_b64encode(key)
