"""`mcpyard status` while something of mcpyard itself does not work."""

from pathlib import Path

import pytest

from tests.api.no_room import no_room
from tests.cli.commands import answer, mcpyard, yard_up

pytestmark = pytest.mark.real


def test_status_names_what_does_not_work_and_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with yard_up(home) as up:
        assert "degraded" not in answer("status", home=home)
        with no_room(up.process.pid):
            while not (degraded := answer("status", home=home).get("degraded")):
                pass
            lines = mcpyard("status", home=home).stdout.splitlines()
    hint = "Free some disk space, then try again."
    detail = f"{home} is not writable: File too large"
    assert degraded[0] == {"component": "storage", "detail": detail, "hint": hint}
    assert lines[0].split(maxsplit=1) == ["status", "running, degraded"]
    assert lines[-2:] == [f"storage: {detail}", f"  {hint}"]
