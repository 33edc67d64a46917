"""The limits of `mcpyard up`, as the environment sets them."""

from pathlib import Path

import pytest

from tests.api.daemon import daemon
from tests.cli.commands import mcpyard

pytestmark = [pytest.mark.real, pytest.mark.spec("F2.6")]


def test_limits_that_cannot_be_read_are_refused_by_their_names(tmp_path: Path) -> None:
    text = "calls=none,seats=4"
    refused = mcpyard("up", "--port", "0", home=tmp_path / "home", MCPYARD_LIMITS=text)
    assert refused.returncode == 2
    message = " ".join(refused.stderr.split())
    assert "MCPYARD_LIMITS: calls: must be a whole number from 1; seats: is not" in message


def test_limits_are_set_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPYARD_LIMITS", "streams=1,connections=8")
    with daemon(tmp_path / "home") as yard, yard.client.stream("GET", "/api/events") as events:
        # Held, since an iterator that is gone closes its stream.
        lines = events.iter_lines()
        next(lines)
        refused = yard.client.get("/api/events")
        assert refused.status_code == 429
        assert refused.json()["type"] == "urn:mcpyard:error:over-quota"
