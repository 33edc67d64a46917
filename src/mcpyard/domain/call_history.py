"""Calls over time: how many of each outcome, and how long they took, counted by the minute.

Durations are counted in classes of equal width on a logarithmic scale, so that a few numbers hold
a tenth of a millisecond and ten minutes alike; what is read from them is right to about a tenth.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from msgspec import Struct

MINUTE: Final = 60

_CLASSES_A_DECADE: Final = 10
_DECADES: Final = 7
_SHORTEST: Final = 0.1

BOUNDS: Final = tuple(
    round(_SHORTEST * 10 ** (number / _CLASSES_A_DECADE), 4)
    for number in range(_CLASSES_A_DECADE * _DECADES + 1)
)
"""Upper bounds of the classes, in milliseconds; one more class holds what took even longer."""

SHARES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
"""The quantiles of the durations that are shown."""


class CallCount(NamedTuple):
    """How many calls of a minute had an outcome and took about so long; `bucket` is the class."""

    minute: int
    outcome: str
    bucket: int
    calls: int


class CallPoint(NamedTuple):
    """One call as a point: seconds since 1970, and milliseconds."""

    at: float
    ms: float
    outcome: str


class UsageSample(NamedTuple):
    """What the processes of a server used in a minute: the most memory, the mean of the CPU."""

    minute: int
    server: UUID
    rss: int
    cpu: float


class Span(Struct, frozen=True):
    """A stretch of time, in steps; all in seconds since 1970."""

    since: int
    until: int
    step: int = MINUTE

    @classmethod
    def ending(cls, now: float, seconds: int, step: int) -> "Span":
        """The last so many seconds in whole steps, the one that is not over among them."""
        until = (int(now) // step + 1) * step
        return cls(until - seconds, until, step)

    @property
    def times(self) -> range:
        """When each step begins."""
        return range(self.since, self.until, self.step)

    def step_of(self, moment: int) -> int:
        """The number of the step that a moment is in."""
        return (moment - self.since) // self.step


class CallHistory(Struct, frozen=True):
    """What happened in each step of a span.

    Attributes:
        calls: The number of calls, by their outcome.
        quantiles: The durations of `SHARES` in milliseconds, each by step; None without calls.
    """

    span: Span
    calls: Mapping[str, Sequence[int]]
    quantiles: Sequence[Sequence[float | None]]


def bucket_of(ms: float) -> int:
    """The class of a duration."""
    return bisect_left(BOUNDS, ms)


def history_of(counts: Iterable[CallCount], span: Span) -> CallHistory:
    """What counts by the minute say of a span; those outside of it are passed over."""
    steps = len(span.times)
    calls: defaultdict[str, list[int]] = defaultdict(lambda: [0] * steps)
    durations = [Counter[int]() for _ in span.times]
    for each in counts:
        step = span.step_of(each.minute)
        if 0 <= step < steps:
            calls[each.outcome][step] += each.calls
            durations[step][each.bucket] += each.calls
    quantiles = [[quantile(each, share) for each in durations] for share in SHARES]
    return CallHistory(span, dict(sorted(calls.items())), quantiles)


def quantile(durations: Mapping[int, int], share: float) -> float | None:
    """The duration that a share of calls did not exceed, from how many there are of each class."""
    left = share * sum(durations.values())
    if not left:
        return None
    for bucket in sorted(durations):
        if durations[bucket] >= left:
            return _within(bucket, left / durations[bucket])
        left -= durations[bucket]
    # A sum of fractions that is a hair too high.
    return _within(max(durations), 1.0)


def _within(bucket: int, part: float) -> float:
    """A duration within a class, as if its calls were spread evenly over the scale."""
    low = BOUNDS[bucket - 1] if bucket else BOUNDS[0] / 10 ** (1 / _CLASSES_A_DECADE)
    high = BOUNDS[bucket] if bucket < len(BOUNDS) else low * 10 ** (1 / _CLASSES_A_DECADE)
    return float(f"{low * (high / low) ** part:.3g}")
