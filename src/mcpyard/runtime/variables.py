"""Where the values of references come from: the environment, and the user's key ring."""

import logging
import time
from collections.abc import Mapping
from typing import Final

log = logging.getLogger(__name__)

SERVICE: Final = "mcpyard"
"""What our secrets stand under in a key ring: `keyring set mcpyard NAME`."""

_PREFIX: Final = "keyring:"
_KEPT: Final = 60.0
"""Seconds that a secret is kept: key rings are slow, and are asked at every look at the sources."""


class Variables:
    """Looks names up (see `Lookup`); `keyring:NAME` in the key ring, all others in a mapping."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._secrets: dict[str, tuple[float, str | None]] = {}

    def __call__(self, name: str) -> str | None:
        """The value of a name; None where it has none."""
        if not name.startswith(_PREFIX):
            return self._environment.get(name)
        until, secret = self._secrets.get(name, (0.0, None))
        now = time.monotonic()
        if now >= until:
            secret = _ask(name.removeprefix(_PREFIX))
            self._secrets[name] = now + _KEPT, secret
        return secret


def _ask(name: str) -> str | None:
    try:
        import keyring  # noqa: PLC0415  an extra, and only asked where a definition names it
        from keyring.errors import KeyringError  # noqa: PLC0415
    except ImportError:
        log.warning('${keyring:%s} needs the extra: pip install "mcpyard[keyring]"', name)
        return None
    try:
        return keyring.get_password(SERVICE, name)
    except KeyringError as error:
        log.warning("the key ring did not give %s: %s", name, error)
        return None
