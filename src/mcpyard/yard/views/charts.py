"""What the charts show."""

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from mcpyard.domain.call_history import SHARES, CallHistory, CallPoint, Span, UsageSample
from mcpyard.yard.views.base import Count, View


class LatencyView(View, frozen=True, kw_only=True):
    """Quantiles of the durations in milliseconds, by step; null where there were no calls."""

    p05: list[float | None]
    p25: list[float | None]
    p50: list[float | None]
    p75: list[float | None]
    p95: list[float | None]


class PointsView(View, frozen=True, kw_only=True):
    """Single calls, the oldest first."""

    at: Annotated[list[float], Meta(description="In seconds since 1970.")]
    ms: list[float]
    outcome: list[str]
    every: Annotated[int, Meta(ge=1, description="One call in so many is shown.")]


class CallsChartView(View, frozen=True, kw_only=True):
    """Calls over time, in steps."""

    since: Annotated[int, Meta(description="In seconds since 1970.")]
    until: int
    step: Annotated[int, Meta(description="In seconds.")]
    total: Count
    calls: Annotated[dict[str, list[int]], Meta(description="By outcome, then by step.")]
    latency: LatencyView
    overall: Annotated[
        dict[str, float | None], Meta(description="`p50` and `p95` of the whole range.")
    ]
    points: Annotated[PointsView | None, Meta(description="Of the ranges `15m` and `1h` only.")]


class UsageChartView(View, frozen=True, kw_only=True):
    """What the processes of a server used over time; null where it did not run."""

    since: Annotated[int, Meta(description="In seconds since 1970.")]
    until: int
    step: Annotated[int, Meta(description="In seconds.")]
    rss: Annotated[
        list[int | None], Meta(description="The most resident memory of each step, in bytes.")
    ]
    cpu: Annotated[
        list[float | None], Meta(description="CPU time of each step, in percent of one core.")
    ]


class TokenCostView(View, frozen=True, kw_only=True):
    """What a list of tools costs a model, by an estimate."""

    name: str
    id: str | UnsetType = UNSET
    tools: Count
    tokens: Count
    unknown: Annotated[
        Count | UnsetType,
        Meta(description="Of clients: enabled servers whose tools mcpyard does not know."),
    ] = UNSET


class TokensChartView(View, frozen=True, kw_only=True):
    """What the tool lists cost; the highest first."""

    all: Annotated[TokenCostView, Meta(description="The enabled tools of all servers.")]
    servers: list[TokenCostView]
    profiles: list[TokenCostView]
    clients: Annotated[
        list[TokenCostView],
        Meta(description="Programs with at least one enabled server."),
    ]


def calls_chart(
    history: CallHistory,
    overall: dict[str, float | None],
    points: tuple[list[CallPoint], int] | None,
) -> CallsChartView:
    """The view of what happened in a span."""
    span = history.span
    names = [f"p{round(100 * share):02}" for share in SHARES]
    lines = {name: [*each] for name, each in zip(names, history.quantiles, strict=True)}
    calls = {outcome: [*each] for outcome, each in history.calls.items()}
    return CallsChartView(
        since=span.since,
        until=span.until,
        step=span.step,
        total=sum(map(sum, calls.values())),
        calls=calls,
        latency=LatencyView(**lines),
        overall=overall,
        points=_points_view(*points) if points else None,
    )


def usage_chart(samples: list[UsageSample], span: Span) -> UsageChartView:
    """The view of what a server used in a span."""
    rss: list[int | None] = [None] * len(span.times)
    cpu: list[float | None] = [None] * len(span.times)
    for each in samples:
        step = span.step_of(each.minute)
        rss[step], cpu[step] = each.rss, round(each.cpu, 1)
    return UsageChartView(since=span.since, until=span.until, step=span.step, rss=rss, cpu=cpu)


def _points_view(points: list[CallPoint], every: int) -> PointsView:
    return PointsView(
        at=[round(each.at, 3) for each in points],
        ms=[round(each.ms, 3) for each in points],
        outcome=[each.outcome for each in points],
        every=every,
    )
