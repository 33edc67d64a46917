"""What each caller uses, and how much of it one may use.

A caller is whoever holds a token: each call token, the admin token, a browser's session. What one
uses up is missing to itself alone: beyond a quota its own oldest idle session ends, or its request
is refused.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from mcpyard.domain.errors import InputError, OverQuota, Problem

_MAX: Final = sys.maxsize
_UNITS: Final = {"": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}
_SETTING: Final = re.compile(r"([a-z]+)=([0-9]{1,12})(|KiB|MiB|GiB)")
_MOST_CALLERS: Final = 1_000
"""Beyond so many those that use nothing are forgotten: browsers sign in again and again."""


class Quotas(NamedTuple):
    """How much one caller may use at once.

    Attributes:
        calls: Calls in flight.
        sessions: Sessions of the gateway.
        streams: Open event streams.
        processes: Processes of servers with `isolation: per-client`.
        memory: Bytes kept for its sessions.
    """

    calls: int = 512
    sessions: int = 64
    streams: int = 32
    processes: int = 8
    memory: int = 64 * 1024 * 1024


class Limits(NamedTuple):
    """What `mcpyard up` limits.

    Attributes:
        quotas: For each caller.
        connections: HTTP connections of all callers together; None for the default.
    """

    quotas: Quotas = Quotas()
    connections: int | None = None


UNLIMITED: Final = Quotas(_MAX, _MAX, _MAX, _MAX, _MAX)

_SENTENCES: Final = {
    "calls": "{} calls of this token are already in flight",
    "sessions": "this token already has {} sessions, and none of them is idle",
    "streams": "this token already has {} streams open",
    "processes": "this token already has {} server processes of its own",
    "memory": "the sessions of this token may keep at most {} bytes in memory",
}


_NAMES: Final = (*Quotas._fields, "connections")


def _nothing_to_evict(_quota: str) -> bool:
    return False


class Caller:
    """One caller.

    Attributes:
        name: As the journal names it.
        quotas: How much it may use.
        calls: Its calls in flight.
        streams: Its open event streams.
        processes: How many processes of servers with `isolation: per-client` each of its clients
            has, by client key.
        kept: Bytes kept for its sessions.
        evict: Ends its oldest idle session that uses something of a quota; whether there was one.
        refused: How often something was refused, by quota.
        evicted: How often one of its sessions was ended, by quota.
    """

    __slots__ = (
        "calls",
        "evict",
        "evicted",
        "kept",
        "name",
        "processes",
        "quotas",
        "refused",
        "streams",
    )

    def __init__(self, name: str, quotas: Quotas) -> None:
        self.name = name
        self.quotas = quotas
        self.calls = 0
        self.streams = 0
        self.processes: Counter[str] = Counter()
        self.kept = 0
        self.evict: Callable[[str], bool] = _nothing_to_evict
        self.refused: Counter[str] = Counter()
        self.evicted: Counter[str] = Counter()

    def enter(self) -> None:
        """Begin a call; `calls` must be decremented when it is over, also when it is refused."""
        self.calls += 1
        if self.calls > self.quotas.calls:
            raise self.refuse("calls")

    @contextmanager
    def streaming(self, *, again: bool = False) -> Generator[None]:
        """Count an event stream for the block; `again` if another, about to end, makes way."""
        if self.streams >= self.quotas.streams and not again:
            raise self.refuse("streams")
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    def add_process(self, client_key: str) -> None:
        """Begin a process for one of its clients, in the place of another if there must be."""
        while self.processes.total() >= self.quotas.processes:
            if not self.evict("processes"):
                raise self.refuse("processes")
        self.processes[client_key] += 1

    def remove_process(self, client_key: str) -> None:
        """End a process of one of its clients."""
        self.processes[client_key] -= 1
        self.processes += Counter[str]()

    def check_memory(self) -> None:
        """Free what is kept for it beyond the quota, as far as that is possible."""
        while self.kept > self.quotas.memory and self.evict("memory"):
            pass

    def refuse(self, quota: str) -> OverQuota:
        """The error of a request beyond a quota; it is counted."""
        self.refused[quota] += 1
        return OverQuota(_SENTENCES[quota].format(getattr(self.quotas, quota)))

    @property
    def is_full(self) -> bool:
        """Whether another call would be refused."""
        return self.calls >= self.quotas.calls

    @property
    def is_idle(self) -> bool:
        """Whether it uses nothing."""
        return not (self.calls or self.streams or self.processes or self.kept)


class Callers:
    """All callers, by name."""

    def __init__(self, unlimited: frozenset[str] = frozenset()) -> None:
        self._quotas = Quotas()
        self._unlimited = unlimited
        self._by_name: dict[str, Caller] = {}

    def __iter__(self) -> Iterator[Caller]:
        """All of them."""
        yield from [*self._by_name.values()]

    def limit(self, quotas: Quotas) -> None:
        """Apply these quotas from now on."""
        self._quotas = quotas
        for caller in self:
            caller.quotas = self._quotas_of(caller.name)

    def of(self, name: str) -> Caller:
        """A caller; made when it is new."""
        return self._by_name.get(name) or self._add(name)

    def _add(self, name: str) -> Caller:
        if len(self._by_name) >= _MOST_CALLERS:
            self._by_name = {each.name: each for each in self if not each.is_idle}
        caller = self._by_name[name] = Caller(name, self._quotas_of(name))
        return caller

    def _quotas_of(self, name: str) -> Quotas:
        return UNLIMITED if name in self._unlimited else self._quotas


def read_limits(text: str) -> Limits:
    """The limits of a text such as `calls=100,memory=16MiB`; what it does not name is as usual.

    Raises:
        InputError: With one problem for each part that cannot be used.
    """
    values: dict[str, int] = {}
    problems: list[Problem] = []
    for part in filter(None, (each.strip() for each in text.split(","))):
        match = _SETTING.fullmatch(part)
        name = match[1] if match else part.partition("=")[0][:80]
        if name not in _NAMES:
            problems.append(Problem(name, f"is not a limit: use {', '.join(_NAMES)}"))
        elif match is None or not int(match[2]) or (match[3] and name != "memory"):
            sizes = " or a size such as 64MiB" if name == "memory" else ""
            problems.append(Problem(name, f"must be a whole number from 1{sizes}"))
        else:
            values[name] = int(match[2]) * _UNITS[match[3]]
    if problems:
        raise InputError.of(*problems)
    connections = values.pop("connections", None)
    return Limits(Quotas(**values), connections)
