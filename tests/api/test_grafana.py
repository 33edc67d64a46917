"""The dashboard in deploy/grafana asks for metrics that exist, with labels that they have."""

import json
import re
from pathlib import Path
from typing import Any, Final

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from mcpyard.domain.status import Status
from mcpyard.testing.cluster import FakeCluster
from tests.api.fake_yard import faked

DASHBOARD: Final = Path(__file__).parents[2] / "deploy" / "grafana" / "mcpyard.json"

METRIC: Final = re.compile(r"\bmcpyard_\w+")
LABELS: Final = re.compile(r"\bby \(([^)]*)\)|(\w+)\s*(?:=~|!~|!=|=)\s*\"")
SHOWN: Final = re.compile(r"\{\{(\w+)\}\}")
OF_PROMETHEUS: Final = {"instance", "job"}
OF_QUOTAS: Final = {"caller", "quota"}
"""Labels that samples have once somebody was refused."""


def dashboard() -> dict[str, Any]:
    return json.loads(DASHBOARD.read_text())


def targets() -> list[tuple[str, dict[str, Any]]]:
    panels = [each for each in dashboard()["panels"] if each["type"] != "row"]
    return [(panel["title"], target) for panel in panels for target in panel["targets"]]


def labels_of(expression: str) -> set[str]:
    names: set[str] = set()
    for grouped, matched in LABELS.findall(expression):
        names |= {each.strip() for each in grouped.split(",")} if grouped else {matched}
    return names


def names_of(family: Metric) -> set[str]:
    """The names that a query can ask for."""
    match family.type:
        case "counter":
            return {f"{family.name}_total"}
        case "histogram":
            return {f"{family.name}{suffix}" for suffix in ("_bucket", "_count", "_sum")}
        case _:
            return {family.name}


async def test_every_panel_asks_for_metrics_and_labels_that_exist(tmp_path: Path) -> None:
    async with faked(tmp_path, cluster=FakeCluster("n1", "n2")) as it:
        await it.register("files")
        page = (await it.client.get("/metrics")).text
    families = [*text_string_to_metric_families(page)]
    names = {name for family in families for name in names_of(family)}
    samples = [sample for family in families for sample in family.samples]
    labels = {label for sample in samples for label in sample.labels}
    for title, target in targets():
        metrics = set(METRIC.findall(target["expr"]))
        assert metrics, title
        assert metrics <= names, f"{title}: {metrics - names}"
        used = labels_of(target["expr"]) | set(SHOWN.findall(target["legendFormat"]))
        assert used <= labels | OF_PROMETHEUS | OF_QUOTAS, f"{title}: {used}"


def test_the_dashboard_shows_each_metric_of_the_cluster_and_no_panel_twice() -> None:
    panels = dashboard()["panels"]
    assert len({each["id"] for each in panels}) == len(panels)
    assert len({each["title"] for each in panels}) == len(panels)
    metrics = {name for _, target in targets() for name in METRIC.findall(target["expr"])}
    assert {
        "mcpyard_lease_seconds_left",
        "mcpyard_takeovers_total",
        "mcpyard_fenced_total",
        "mcpyard_database_away",
        "mcpyard_node_servers",
    } <= metrics


def test_statuses_in_the_dashboard_are_statuses() -> None:
    statuses = set(re.findall(r'status=\\"([^"\\]*)\\"', DASHBOARD.read_text()))
    assert statuses
    assert statuses <= {str(each) for each in Status}


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert at["x"] + at["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
