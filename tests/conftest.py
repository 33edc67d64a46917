"""Rules that hold for every test."""

import pytest
from hypothesis import HealthCheck, settings

QUICK_SECONDS = 5
REAL_SECONDS = 60

settings.register_profile(
    "short", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("short")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test its time limit: 5 s, or 60 s for those that use real parts."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            seconds = REAL_SECONDS if item.get_closest_marker("real") else QUICK_SECONDS
            item.add_marker(pytest.mark.timeout(seconds))
