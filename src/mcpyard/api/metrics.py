"""The figures of a yard in the text format of Prometheus.

Written by hand: the official client costs 40 ms at the start of every yard, for a format of three
rules. Tests read the page with that client's own parser.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api.http_server.connection_limits import BoundedProtocol, ConnectionCounts
from mcpyard.domain.callers import Caller
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.lifecycle import OPEN
from mcpyard.domain.repositories import Journal
from mcpyard.domain.status import Status, public_words
from mcpyard.yard.calls.accounts import Account
from mcpyard.yard.views.resources import FiguresView
from mcpyard.yard.views.servers import Picture
from mcpyard.yard.yard import YardCore

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]


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


class _Metric(NamedTuple):
    name: str
    kind: str
    meaning: str
    samples: Callable[[_Seen], Iterable[Sample]]


class _YardMetric(NamedTuple):
    """A metric that is not about one server."""

    name: str
    kind: str
    meaning: str
    samples: Callable[[YardCore], Iterable[Sample]]


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
        lines = [line for metric in _METRICS for line in _lines(metric, seen)]
        lines += [line for metric in _YARD_METRICS for line in _yard_lines(metric, self._yard)]
        page = "".join(f"{line}\n" for line in lines)
        return Response(page.encode(), headers={"Content-Type": MEDIA_TYPE})

    def _usages(self, pictures: Iterable[Picture]) -> dict[UUID, FiguresView]:
        usages: dict[UUID, FiguresView] = {}
        for server, observed in pictures:
            if observed.state.phase not in OPEN:
                continue
            # Removed meanwhile, a server uses nothing.
            with contextlib.suppress(ServerUnknown):
                used = self._yard.record(str(server.id), tools=False).figures
                usages |= {server.id: used} if isinstance(used, FiguresView) else {}
        return usages


def escaped(value: str) -> str:
    """A label's value as it is written between quotes."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _lines(metric: _Metric, seen: Iterable[_Seen]) -> Iterator[str]:
    yield from _described(metric)
    for each in seen:
        server = each.picture.server.name
        for suffix, labels, value in metric.samples(each):
            yield _line(metric.name + suffix, {"server": server, **labels}, value)


def _yard_lines(metric: "_YardMetric", yard: YardCore) -> Iterator[str]:
    yield from _described(metric)
    for suffix, labels, value in metric.samples(yard):
        yield _line(metric.name + suffix, labels, value)


def _described(metric: "_Metric | _YardMetric") -> Iterator[str]:
    yield f"# HELP {metric.name} {metric.meaning}"
    yield f"# TYPE {metric.name} {metric.kind}"


def _line(name: str, labels: Labels, value: float) -> str:
    label_text = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{label_text}}} {value:.17g}" if labels else f"{name} {value:.17g}"


def _one(read: Callable[[_Seen], float]) -> Callable[[_Seen], Iterable[Sample]]:
    return lambda seen: [Sample("", {}, read(seen))]


def _used(read: Callable[[FiguresView], float]) -> Callable[[_Seen], Iterable[Sample]]:
    return lambda seen: [Sample("", {}, read(seen.usage))] if seen.usage else []


def _of_journal(read: Callable[[Journal], int]) -> Callable[[YardCore], Iterable[Sample]]:
    def samples(yard: YardCore) -> list[Sample]:
        journal = yard.accounts.journal
        return [Sample("", {}, read(journal))] if journal else []

    return samples


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


def _restarts(seen: _Seen) -> float:
    """Every open of the server beyond the first."""
    return max(0, seen.picture.observed.state.epoch - 1)


_METRICS: Final = (
    _Metric(
        "mcpyard_server_status", "gauge", "1 for the current status of a server, else 0.", _statuses
    ),
    _Metric(
        "mcpyard_server_restarts_total",
        "counter",
        "Number of times a server was opened again.",
        _one(_restarts),
    ),
    _Metric(
        "mcpyard_server_late_events_total",
        "counter",
        "Late events of earlier sessions that were discarded.",
        _one(lambda seen: seen.picture.observed.late_events),
    ),
    _Metric(
        "mcpyard_server_tools",
        "gauge",
        "Number of tools of a server.",
        _one(lambda seen: len(seen.picture.observed.tools.definitions)),
    ),
    _Metric(
        "mcpyard_server_memory_bytes",
        "gauge",
        "Resident memory of a server's process tree.",
        _used(lambda usage: usage.rss),
    ),
    _Metric(
        "mcpyard_server_cpu_seconds_total",
        "counter",
        "CPU time used by a server's process tree.",
        _used(lambda usage: usage.cpu_seconds),
    ),
    _Metric(
        "mcpyard_server_processes",
        "gauge",
        "Number of processes of a server's process tree.",
        _used(lambda usage: usage.processes),
    ),
    _Metric(
        "mcpyard_calls_total",
        "counter",
        "Calls of a server's tools.",
        _one(lambda seen: seen.account.calls),
    ),
    _Metric(
        "mcpyard_call_errors_total",
        "counter",
        "Calls that failed or whose tool returned an error.",
        _one(lambda seen: seen.account.errors),
    ),
    _Metric(
        "mcpyard_server_calls_refused_total",
        "counter",
        "Calls refused because too many were in flight or waiting for the server.",
        _one(lambda seen: seen.account.refused),
    ),
    _Metric("mcpyard_call_duration_seconds", "histogram", "Duration of calls.", _latency),
    _Metric(
        "mcpyard_call_arguments_bytes_total",
        "counter",
        "Bytes of arguments sent to a server.",
        _one(lambda seen: seen.account.bytes_in),
    ),
    _Metric(
        "mcpyard_call_results_bytes_total",
        "counter",
        "Bytes of results received from a server.",
        _one(lambda seen: seen.account.bytes_out),
    ),
)


def _by_quota(read: Callable[[Caller], Counter[str]]) -> Callable[[YardCore], Iterable[Sample]]:
    return lambda yard: [
        Sample("", {"caller": caller.name, "quota": quota}, count)
        for caller in yard.calls.callers
        for quota, count in read(caller).items()
    ]


def _connections(read: Callable[[ConnectionCounts], int]) -> Callable[[YardCore], Iterable[Sample]]:
    def samples(_yard: YardCore) -> list[Sample]:
        return [Sample("", {}, read(BoundedProtocol.counts))]

    return samples


_YARD_METRICS: Final = (
    _YardMetric(
        "mcpyard_journal_dropped_total",
        "counter",
        "Calls that the journal did not record.",
        _of_journal(lambda journal: journal.dropped),
    ),
    _YardMetric(
        "mcpyard_journal_trimmed_total",
        "counter",
        "Calls removed from the journal because it was full.",
        _of_journal(lambda journal: journal.trimmed),
    ),
    _YardMetric(
        "mcpyard_quota_refusals_total",
        "counter",
        "Requests refused because of a quota of their caller.",
        _by_quota(lambda caller: caller.refused),
    ),
    _YardMetric(
        "mcpyard_quota_evictions_total",
        "counter",
        "Idle sessions ended because of a quota of their caller.",
        _by_quota(lambda caller: caller.evicted),
    ),
    _YardMetric(
        "mcpyard_connections_closed_total",
        "counter",
        "Connections without a valid token closed to make room for others.",
        _connections(lambda counts: counts.closed),
    ),
    _YardMetric(
        "mcpyard_connections_refused_total",
        "counter",
        "Connections refused because there were too many.",
        _connections(lambda counts: counts.refused),
    ),
)
