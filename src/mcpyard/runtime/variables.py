"""Where the values of references come from: the environment, stored secrets, and the key ring.

What the environment sets takes precedence. The file of a project finds a stored secret only by the
names that the user allowed it.

A key ring is slow, may ask the user to unlock it, and may be locked again a moment later. So it is
asked by a thread of its own, the answer is kept for a while, and the last one that it gave holds
until it gives another: what runs must not fall with a ring that says nothing just now.
"""

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import Final, Protocol

from msgspec import Struct

from mcpyard.domain.definition.expand import Lookup, SecretText
from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope
from mcpyard.domain.stored import StoredSecret

log = logging.getLogger(__name__)

SERVICE: Final = "mcpyard"
"""What our secrets stand under in a key ring: `keyring set mcpyard NAME`."""

_PREFIX: Final = "keyring:"
_KEPT: Final = 60.0
"""Seconds that a secret is kept: key rings are asked at every look at the sources."""

_SHUNNED: Final = 3.0
"""Seconds that a ring which gave no answer is left alone."""

_ANSWER_TIMEOUT: Final = 20.0
"""Seconds after which nobody waits for an answer any more; it is welcome when it comes."""


class _Answer(Struct, frozen=True):
    """What a ring said: a secret, or that there is none; `given` is False where it said nothing."""

    secret: str | None = None
    given: bool = True


class StoredValues(Protocol):
    """The stored secrets."""

    def all(self) -> Mapping[str, StoredSecret]:
        """Every one by its name."""
        ...


class Allowed(Protocol):
    """Which files may use which stored secrets."""

    def all(self) -> Collection[tuple[str, str]]:
        """The path of each file, and the name that it may use."""
        ...


class Variables:
    """Looks names up (see `Lookup`); `keyring:NAME` in the key ring, all others in a mapping.

    What the mapping does not have may be a stored secret.

    Where an event loop runs, the ring is not waited for (see `SecretLookup` of the yard).

    Attributes:
        changed: Called when a value is another one than it was, or is known at last.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        stored: StoredValues | None = None,
        allowed: Allowed | None = None,
    ) -> None:
        self.changed: Callable[[], None] = lambda: None
        self._environment = environment
        self._stored = stored
        self._allowed = allowed
        self._secrets: dict[str, str | None] = {}
        self._until: dict[str, float] = {}
        self._asking: set[str] = set()
        self._awaited: dict[str, asyncio.Future[None]] = {}
        self._turn = threading.Lock()

    def __call__(self, name: str) -> str | None:
        """The value of a name as far as it is known; None where it has none."""
        if not name.startswith(_PREFIX):
            value = self._environment.get(name)
            return self._stored_value(name) if value is None else value
        if time.monotonic() >= self._until.get(name, 0.0) and name not in self._asking:
            self._ask(name)
        return _secret(self._secrets.get(name))

    def of_owner(self, owner: Owner) -> Lookup:
        """The lookup of those who have a definition: a file of a project needs consent."""
        if owner.scope is not Scope.PROJECT:
            return self

        def lookup(name: str) -> str | None:
            is_stored = self._stored is not None and name in self._stored.all()
            pairs = self._allowed.all() if self._allowed else ()
            if not is_stored or (owner.place, name) in pairs:
                return self(name)
            return self._environment.get(name)

        return lookup

    def notify(self) -> None:
        """Tell that a stored value is another one than it was."""
        self.changed()

    def is_set(self, name: str) -> bool:
        """Whether the environment sets a name, which takes precedence."""
        return name in self._environment

    def _stored_value(self, name: str) -> str | None:
        secret = self._stored.all().get(name) if self._stored else None
        if secret is None:
            return None
        return self(f"{_PREFIX}{name}") if secret.in_key_ring else _secret(secret.value)

    def forget(self, name: str) -> None:
        """Ask the key ring again for a value that was just stored there."""
        self._until.pop(f"{_PREFIX}{name}", None)

    @property
    def awaited(self) -> Collection[str]:
        """The names whose values may be others in a moment."""
        if not self._awaited:
            return ()
        stored = self._stored.all().items() if self._stored else ()
        names = (name for name, secret in stored if secret.in_key_ring)
        return {*self._awaited, *(each for each in names if f"{_PREFIX}{each}" in self._awaited)}

    async def answered(self) -> None:
        """Return when no value is awaited any more."""
        while self._awaited:
            await asyncio.wait([*self._awaited.values()])

    def _ask(self, name: str) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._learn(name, _ask_ring(name))
            return
        self._asking.add(name)
        self._awaited[name] = awaited = loop.create_future()
        loop.call_later(_ANSWER_TIMEOUT, self._give_up, name, awaited)
        # A daemon, because a question that nobody answers must not keep the program from ending.
        threading.Thread(
            target=self._work, args=(name, loop), name="ask the key ring", daemon=True
        ).start()

    def _work(self, name: str, loop: asyncio.AbstractEventLoop) -> None:
        # One at a time, or a locked ring asks the user for its password once for each secret.
        with self._turn:
            answer = _ask_ring(name)
        # The loop is gone when its program ended meanwhile.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._learn, name, answer)

    def _give_up(self, name: str, awaited: asyncio.Future[None]) -> None:
        if self._awaited.get(name) is awaited:
            log.warning("the key ring does not answer for %s", name)
            self._until[name] = time.monotonic() + _SHUNNED
            self._wait_no_more(name)
            self.changed()

    def _learn(self, name: str, answer: _Answer) -> None:
        self._asking.discard(name)
        self._until[name] = time.monotonic() + (_KEPT if answer.given else _SHUNNED)
        before = self._secrets.get(name)
        if answer.given:
            self._secrets[name] = answer.secret
        waited = self._wait_no_more(name)
        if waited or self._secrets.get(name) != before:
            self.changed()

    def _wait_no_more(self, name: str) -> bool:
        future = self._awaited.pop(name, None)
        if future is None:
            return False
        future.set_result(None)
        return True


def _secret(value: str | None) -> SecretText | None:
    return None if value is None else SecretText(value)


def _ask_ring(name: str) -> _Answer:
    key = name.removeprefix(_PREFIX)
    try:
        import keyring  # noqa: PLC0415  an extra, and only asked where a definition names it
    except ImportError:
        log.warning('${keyring:%s} needs the extra: pip install "mcpyard[keyring]"', key)
        return _Answer(given=False)
    try:
        return _Answer(keyring.get_password(SERVICE, key))
    except Exception as error:  # noqa: BLE001  each ring has errors of its own besides the library's
        log.warning("the key ring did not give %s: %s", key, error)
        return _Answer(given=False)
