"""What the charts are drawn from: the calls and the usage of the last minutes, hours and days."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import Final
from uuid import UUID

from mcpyard.domain.call_history import MINUTE, CallCount, Span, history_of, quantile
from mcpyard.yard.views.charts import (
    CallsChartView,
    UsageChartView,
    calls_chart,
    usage_chart,
)
from mcpyard.yard.yard import YardCore


class ChartRange(StrEnum):
    """How far back a chart goes."""

    QUARTER = "15m"
    HOUR = "1h"
    DAY = "24h"
    WEEK = "7d"


_HOUR: Final = 60 * MINUTE
_SPANS: Final = {
    ChartRange.QUARTER: (15 * MINUTE, MINUTE),
    ChartRange.HOUR: (_HOUR, MINUTE),
    ChartRange.DAY: (24 * _HOUR, 5 * MINUTE),
    ChartRange.WEEK: (7 * 24 * _HOUR, 30 * MINUTE),
}
"""Seconds of each range, and of its steps."""

_WITH_POINTS: Final = {ChartRange.QUARTER, ChartRange.HOUR}
_OVERALL: Final = {"p50": 0.5, "p95": 0.95}


class Charts:
    """Reads the charts of one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def calls(
        self, range_: ChartRange, now: float, server: UUID | None = None
    ) -> CallsChartView:
        """The calls of one server, or of all."""
        span, history = span_of(range_, now), self._yard.accounts.minutes
        if history is None:
            return calls_chart(history_of((), span), dict.fromkeys(_OVERALL), None)
        counts = await history.counts(span, server)
        points = None
        if range_ in _WITH_POINTS:
            calls, every = await history.points(span, server)
            points = [*calls], every
        return calls_chart(history_of(counts, span), _overall(counts), points)

    async def usage(self, range_: ChartRange, now: float, server: UUID) -> UsageChartView:
        """What the processes of a server used."""
        span, history = span_of(range_, now), self._yard.accounts.minutes
        return usage_chart([*await history.usage(span, server)] if history else [], span)


def span_of(range_: ChartRange, now: float) -> Span:
    """The stretch of time that a range stands for."""
    return Span.ending(now, *_SPANS[range_])


def _overall(counts: Iterable[CallCount]) -> dict[str, float | None]:
    durations: Counter[int] = Counter()
    for each in counts:
        durations[each.bucket] += each.calls
    return {name: quantile(durations, share) for name, share in _OVERALL.items()}
