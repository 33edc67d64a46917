"""What the libraries leave to the garbage collector: pipes of a program, sockets of a client."""

import gc
import warnings
from collections.abc import Generator

import pytest

LEAKS = "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
"""For tests whose libraries, or snippets as printed, leave something open."""


@pytest.fixture(scope="module")
def collected_leaks() -> Generator[None]:
    """Collect it at the end of the module, so that no test of something else is blamed for it."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
