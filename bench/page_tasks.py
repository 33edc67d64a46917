"""The longest tasks of a page's thread, as the browser and its trace tell of them."""

from typing import Any

OBSERVE = """buffered => {
    window.tasks = [];
    const note = list => window.tasks.push(...list.getEntries().map(each => each.duration));
    new PerformanceObserver(note).observe({type: "longtask", buffered: buffered ?? false});
}"""
"""Note long tasks from now on; given true, also those since the page began."""


def longest_of(events: list[dict[str, Any]]) -> float:
    """The milliseconds that the longest task of a page's thread took of the processor."""
    pages = {
        (each["pid"], each["tid"])
        for each in events
        if each["name"] == "thread_name" and each["args"]["name"] == "CrRendererMain"
    }
    spent = [each.get("tdur", 0) for each in events if (each["pid"], each["tid"]) in pages]
    return max(spent, default=0) / 1000
