"""Secrets, and who may use them, that last as long as their program: a private yard's."""

from collections.abc import Callable, Collection, Mapping

from mcpyard.domain.stored import StoredSecret

_IN_KEY_RING = b""


class VolatileSecrets:
    """Secrets in memory (see the `Secrets` port)."""

    def __init__(self) -> None:
        self._all: dict[str, StoredSecret] = {}
        self.changed: Callable[[], None] = lambda: None

    def all(self) -> Mapping[str, StoredSecret]:
        """Every one by its name."""
        return self._all

    async def set(self, name: str, value: str | None) -> None:
        """Keep a value in place of the one there was; None stands for one in the key ring."""
        self._all = {**self._all, name: StoredSecret(value, in_key_ring=value is None)}
        self.changed()

    async def sealed(self, name: str) -> bytes | None:
        """What is kept under a name; nothing is sealed in memory."""
        secret = self._all.get(name)
        if secret is None:
            return None
        return _IN_KEY_RING if secret.value is None else f"={secret.value}".encode()

    async def restore(self, name: str, sealed: bytes | None) -> None:
        """Keep again what was kept once, or nothing."""
        if sealed is not None:
            await self.set(name, sealed.decode()[1:] if sealed else None)
        elif name in self._all:
            self._all = {key: each for key, each in self._all.items() if key != name}
            self.changed()


class VolatileSecretConsents:
    """Consents in memory (see the `SecretConsents` port)."""

    def __init__(self) -> None:
        self._all: frozenset[tuple[str, str]] = frozenset()
        self.changed: Callable[[], None] = lambda: None

    def all(self) -> Collection[tuple[str, str]]:
        """The path of each file, and the name that it may use."""
        return self._all

    async def set(self, place: str, name: str, *, allowed: bool) -> None:
        """Allow a file to use a name, or not any more."""
        pair = frozenset({(place, name)})
        self._all = self._all | pair if allowed else self._all - pair
        self.changed()
