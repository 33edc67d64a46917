"""The figures of a yard in the text format of Prometheus.

Written by hand: the official client costs 40 ms at the start of every yard, for a format of three
rules. Tests read the page with that client's own parser.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api.cluster_metrics import (
    CLUSTER_METRICS,
    ClusterMetric,
    ClusterSample,
    sample_cluster,
)
from mcpyard.api.http_server.connection_limits import BoundedProtocol
from mcpyard.domain.callers import Caller
from mcpyard.domain.lifecycle import OPEN
from mcpyard.domain.status import Status, public_words
from mcpyard.yard.calls.accounts import Account
from mcpyard.yard.views.resources import FiguresView
from mcpyard.yard.views.servers import Picture
from mcpyard.yard.yard import YardCore

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]

_Subject = TypeVar("_Subject")


class Sample(NamedTuple):
    """One line: what follows the metric's name, the labels, the value."""

    suffix: str
    labels: Labels
    value: float


class _Seen(NamedTuple):
    """A server, what became of its calls, and what its processes use."""

    picture: Picture
    account: Account
    usage: FiguresView | None


@dataclass(frozen=True, slots=True)
class _Metric(Generic[_Subject]):
    """A metric of each server, or of the yard as a whole."""

    name: str
    kind: str
    meaning: str
    samples: Callable[[_Subject], Iterable[Sample]]


class MetricsRoutes:
    """Shows the figures of one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def metrics(self, _request: Request) -> Response:
        """Every figure."""
        accounts, pictures = self._yard.accounts.by_server, self._yard.pictures()
        usages = await asyncio.to_thread(self._usages, pictures)
        seen = [
            _Seen(each, accounts.get(each.server.id) or Account(), usages.get(each.server.id))
            for each in pictures
        ]
        servers = [(each, {"server": each.picture.server.name}) for each in seen]
        lines = [line for metric in _METRICS for line in _lines(metric, servers)]
        lines += [line for metric in _YARD_METRICS for line in _lines(metric, [(self._yard, {})])]
        if (cluster := sample_cluster(self._yard.cluster)) is not None:
            lines += [
                line for metric in CLUSTER_METRICS for line in _cluster_lines(metric, cluster)
            ]
        page = "".join(f"{line}\n" for line in lines)
        return Response(page.encode(), headers={"Content-Type": MEDIA_TYPE})

    def _usages(self, pictures: Iterable[Picture]) -> dict[UUID, FiguresView]:
        up = [server.id for server, observed in pictures if observed.state.phase in OPEN]
        usages = {each: self._yard.directory.figures(each) for each in up}
        return {server: used for server, used in usages.items() if used}


def escaped(value: str) -> str:
    """A label's value as it is written between quotes."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _lines(metric: _Metric[_Subject], subjects: Iterable[tuple[_Subject, Labels]]) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.meaning}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for subject, common in subjects:
        for suffix, labels, value in metric.samples(subject):
            yield _line(metric.name + suffix, common | labels, value)


def _cluster_lines(metric: ClusterMetric, sample: ClusterSample) -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.meaning}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value in metric.read(sample):
        yield _line(metric.name, labels, value)


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    label_text = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{label_text}}} {value:.17g}" if labels else f"{name} {value:.17g}"


def _gauge(name: str, meaning: str, read: Callable[[_Subject], float | None]) -> _Metric[_Subject]:
    return _Metric(name, "gauge", meaning, lambda subject: _value(read(subject)))


def _counter(
    name: str, meaning: str, read: Callable[[_Subject], float | None]
) -> _Metric[_Subject]:
    return _Metric(name, "counter", meaning, lambda subject: _value(read(subject)))


def _value(value: float | None) -> list[Sample]:
    return [] if value is None else [Sample("", {}, value)]


def _statuses(seen: _Seen) -> Iterator[Sample]:
    """One sample for each word, so that a change of status is a change of numbers."""
    current = public_words(seen.picture.observed.state).status
    for status in Status:
        yield Sample("", {"status": str(status)}, float(status is current))


def _latency(seen: _Seen) -> Iterator[Sample]:
    account = seen.account
    for bound, count in account.cumulative():
        yield Sample("_bucket", {"le": f"{bound / 1000:g}"}, count)
    yield Sample("_bucket", {"le": "+Inf"}, account.calls)
    yield Sample("_sum", {}, account.ms / 1000)
    yield Sample("_count", {}, account.calls)


def _by_quota(read: Callable[[Caller], Counter[str]]) -> Callable[[YardCore], Iterable[Sample]]:
    return lambda yard: [
        Sample("", {"caller": caller.name, "quota": quota}, count)
        for caller in yard.calls.callers
        for quota, count in read(caller).items()
    ]


_METRICS: Final[tuple[_Metric[_Seen], ...]] = (
    _Metric(
        "mcpyard_server_status", "gauge", "1 for the current status of a server, else 0.", _statuses
    ),
    _counter(
        "mcpyard_server_restarts_total",
        "Number of times a server was opened again.",
        lambda seen: max(0, seen.picture.observed.state.epoch - 1),
    ),
    _counter(
        "mcpyard_server_late_events_total",
        "Late events of earlier sessions that were discarded.",
        lambda seen: seen.picture.observed.late_events,
    ),
    _gauge(
        "mcpyard_server_tools",
        "Number of tools of a server.",
        lambda seen: len(seen.picture.observed.tools.definitions),
    ),
    _gauge(
        "mcpyard_server_memory_bytes",
        "Resident memory of a server's process tree.",
        lambda seen: seen.usage and seen.usage.rss,
    ),
    _counter(
        "mcpyard_server_cpu_seconds_total",
        "CPU time used by a server's process tree.",
        lambda seen: seen.usage and seen.usage.cpu_seconds,
    ),
    _gauge(
        "mcpyard_server_processes",
        "Number of processes of a server's process tree.",
        lambda seen: seen.usage and seen.usage.processes,
    ),
    _counter("mcpyard_calls_total", "Calls of a server's tools.", lambda seen: seen.account.calls),
    _counter(
        "mcpyard_call_errors_total",
        "Calls that failed or whose tool returned an error.",
        lambda seen: seen.account.errors,
    ),
    _counter(
        "mcpyard_server_calls_refused_total",
        "Calls refused because too many were in flight or waiting for the server.",
        lambda seen: seen.account.refused,
    ),
    _Metric("mcpyard_call_duration_seconds", "histogram", "Duration of calls.", _latency),
    _counter(
        "mcpyard_call_arguments_bytes_total",
        "Bytes of arguments sent to a server.",
        lambda seen: seen.account.bytes_in,
    ),
    _counter(
        "mcpyard_call_results_bytes_total",
        "Bytes of results received from a server.",
        lambda seen: seen.account.bytes_out,
    ),
)

_YARD_METRICS: Final[tuple[_Metric[YardCore], ...]] = (
    _counter(
        "mcpyard_journal_dropped_total",
        "Calls that the journal did not record.",
        lambda yard: yard.accounts.journal.dropped if yard.accounts.journal else None,
    ),
    _counter(
        "mcpyard_journal_trimmed_total",
        "Calls removed from the journal because it was full.",
        lambda yard: yard.accounts.journal.trimmed if yard.accounts.journal else None,
    ),
    _Metric(
        "mcpyard_quota_refusals_total",
        "counter",
        "Requests refused because of a quota of their caller.",
        _by_quota(lambda caller: caller.refused),
    ),
    _Metric(
        "mcpyard_quota_evictions_total",
        "counter",
        "Idle sessions ended because of a quota of their caller.",
        _by_quota(lambda caller: caller.evicted),
    ),
    _counter(
        "mcpyard_connections_closed_total",
        "Connections without a valid token closed to make room for others.",
        lambda _yard: BoundedProtocol.counts.closed,
    ),
    _counter(
        "mcpyard_connections_refused_total",
        "Connections refused because there were too many.",
        lambda _yard: BoundedProtocol.counts.refused,
    ),
)
