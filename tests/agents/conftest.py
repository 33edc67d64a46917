import sys
from importlib import import_module

import pytest


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no agent library fetch a program or speak to anybody of its own accord."""
    monkeypatch.setenv("COPILOT_SKIP_CLI_DOWNLOAD", "1")
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
    monkeypatch.setenv("PYDANTIC_AI_NO_BANNER", "1")


@pytest.fixture(scope="package", autouse=True)
def _prices() -> None:
    """Load without tracing what Pydantic AI loads with its first model.

    It is a module of 19,000 lines, for which Python 3.12 takes 15 s while coverage is measured.
    """
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        import_module("genai_prices.data")
    finally:
        sys.settrace(trace)
