"""The mark in a child's environment: which yard started it, and that it was really this one.

Marks are visible to every process of the user and easily written, so each is signed with the key of
its home. A mark ends a process only where its signature verifies: what names a yard without having
been started by it is left alone, and so are the processes of other homes.

Version 0.1 did not sign its marks. They are believed of one yard only: the one that the home says
held it last. The signature comes first, so that 0.1 reads pid and start time where it expects them,
and leaves the processes of a living yard alone.
"""

import hashlib
import hmac
import os
import secrets
from collections.abc import Collection
from typing import Final, Self

from msgspec import Struct

from mcpyard.runtime.processes.table import read_process

KEY_BYTES: Final = 32
_SIGNATURE_CHARACTERS: Final = 32
_OF_PROCESSES: Final = b"process "
_OF_GROUPS: Final = b"group "

Yard = tuple[int, int]
"""The pid of a yard's process, and when that process began."""


class Mark(Struct, frozen=True):
    """What a child's environment says about the yard that started it."""

    instance: str
    yard_pid: int
    yard_start: int

    @classmethod
    def of_this_process(cls, instance: str) -> Self:
        """The mark of the children of a yard in this process."""
        row = read_process(os.getpid())
        return cls(instance, os.getpid(), row.start if row else 0)

    @classmethod
    def parse(cls, value: bytes) -> Self | None:
        """The mark in a text without signature, or None when it is not one of ours."""
        try:
            instance, pid, start, _ = value.decode().rsplit(":", 3)
            return cls(instance, int(pid), int(start))
        except ValueError:
            return None

    @property
    def yard(self) -> Yard:
        """The process that the mark names."""
        return self.yard_pid, self.yard_start

    def of_child(self, number: int) -> str:
        """The text for one child, without signature."""
        return f"{self.instance}:{self.yard_pid}:{self.yard_start}:{number}"


class MarkKey:
    """Signs marks and tells whether a mark was signed with the same key."""

    def __init__(self, secret: bytes = b"", unsigned: Collection[Yard] = ()) -> None:
        """A key that is known to this process alone, unless it is given.

        Args:
            secret: The key.
            unsigned: Yards whose marks are believed without signature.
        """
        self._secret = secret or secrets.token_bytes(KEY_BYTES)
        self._unsigned = frozenset(unsigned)

    def sign(self, mark: Mark, number: int) -> str:
        """The value of the variable for one child."""
        text = mark.of_child(number)
        return f"{self._signature(text.encode(), _OF_PROCESSES)}:{text}"

    def verify(self, value: bytes) -> Mark | None:
        """The mark in the variable's value; None when it is not signed with this key."""
        mark = Mark.parse(value)
        if mark and mark.yard in self._unsigned:
            return mark
        return self._verify(value, _OF_PROCESSES)

    def sign_group(self, mark: Mark, number: int) -> str:
        """The name of a control group: anybody can read it, and it is worth nothing as a mark."""
        text = mark.of_child(number)
        return f"{self._signature(text.encode(), _OF_GROUPS)}:{text}"

    def verify_group(self, name: bytes) -> Mark | None:
        """The mark in the name of a control group; None when it is not signed with this key."""
        return self._verify(name, _OF_GROUPS)

    def _verify(self, value: bytes, purpose: bytes) -> Mark | None:
        signature, _, text = value.partition(b":")
        valid = hmac.compare_digest(signature, self._signature(text, purpose).encode())
        return Mark.parse(text) if valid else None

    def _signature(self, text: bytes, purpose: bytes) -> str:
        digest = hmac.new(self._secret, purpose + text, hashlib.sha256).hexdigest()
        return digest[:_SIGNATURE_CHARACTERS]
