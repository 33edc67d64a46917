"""Storing secrets in the user's key ring, where `${keyring:NAME}` finds them."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from mcpyard.domain.errors import NotWritable
from mcpyard.runtime.variables import SERVICE

log = logging.getLogger(__name__)

_INSTALL = 'Install the extra: pip install "mcpyard[keyring]"; or store it in mcpyard.'
_ELSEWHERE = "Unlock the key ring, or store it in mcpyard."


class UserKeyRing:
    """The key ring of the user that runs mcpyard."""

    async def set(self, name: str, value: str) -> None:
        """Store a value.

        Raises:
            NotWritable: There is no key ring, or it refuses.
        """
        await asyncio.to_thread(_do, lambda ring: ring.set_password(SERVICE, name, value))

    async def remove(self, name: str) -> None:
        """Delete a value; does nothing where there is none, or no key ring."""
        try:
            await asyncio.to_thread(_do, lambda ring: ring.delete_password(SERVICE, name))
        except NotWritable as error:
            log.warning("%s", error.message)


def _do(step: Callable[[Any], object]) -> None:
    try:
        import keyring  # noqa: PLC0415  an extra, and only asked for when somebody wants it
    except ImportError:
        message = "the key ring cannot be used without the extra keyring"
        raise NotWritable(message).advising(_INSTALL) from None
    try:
        step(keyring)
    except Exception as error:  # noqa: BLE001  each ring has errors of its own besides the library's
        raise NotWritable(f"the key ring refuses: {error}").advising(_ELSEWHERE) from None
