"""Rules that hold for every test.

Two tiers: the ordinary run tries each property on a fixed sample, the same every time; a proof
(`scripts/prove`, which sets MCPYARD_PROOF=full) tries twenty times as many, new ones each time.
"""

import os
import random

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ("tests.time_limits", "tests.postgres")

FULL = os.environ.get("MCPYARD_PROOF") == "full"
QUICK_SECONDS = 300 if FULL else 20
REAL_SECONDS = 600 if FULL else 60
SHORT_EXAMPLES = 100

settings.register_profile(
    "short",
    max_examples=SHORT_EXAMPLES,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "full",
    max_examples=20 * SHORT_EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("full" if FULL else "short")


LONG = ("cluster", "web", "mesh", "fire", "faults", "agents")
"""Folders with the longest files: these come first, so that no worker has one left in the end."""


def _is_last(item: pytest.Item) -> bool:
    """Whether a test sums up what the others of its file did."""
    return item.get_closest_marker("last") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test its time limit: 20 s, or 60 s for those that use real parts.

    MCPYARD_TEST_ORDER, a number, shuffles the files and the tests in each of them.
    """
    items.sort(key=lambda item: item.path.parent.name not in LONG)
    if seed := os.environ.get("MCPYARD_TEST_ORDER"):
        dice = random.Random(int(seed))  # noqa: S311  an order, not a secret
        places = {item.path: dice.random() for item in items}
        items.sort(key=lambda item: (places[item.path], _is_last(item), dice.random()))
    for item in items:
        if item.get_closest_marker("timeout") is None:
            seconds = REAL_SECONDS if item.get_closest_marker("real") else QUICK_SECONDS
            item.add_marker(pytest.mark.timeout(seconds))
