"""A home that is deleted or replaced while its yard runs: nothing is said to be stored."""

import json
import shutil
from pathlib import Path

import httpx2
import pytest

from tests.api.daemon import SERVERS, daemon, one
from tests.cli.commands import echo, mcpyard, yard_up

pytestmark = pytest.mark.real


def test_a_yard_without_its_home_refuses_changes_and_is_not_healthy(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as it:
        it.register("old", echo(), start=True)
        it.until("old", lambda each: each["status"] == "connected")
        assert it.get("/healthz")["ok"] is True
        shutil.rmtree(home)
        refused = it.client.post(SERVERS, json={"name": "new", **echo()})
        assert refused.status_code == 507, refused.text
        assert refused.json()["type"] == "urn:mcpyard:error:state-gone"
        assert f"{home / 'state.db'} was deleted" in refused.json()["detail"]
        assert [each["name"] for each in it.get(SERVERS)] == ["old"]
        sick = it.client.get("/healthz")
        assert (sick.status_code, sick.json()["ok"]) == (507, False)
        assert f"{home / 'state.db'} was deleted" in sick.json()["detail"]
        assert sick.json()["servers"] == {"old": "connected"}
        while (ready := it.client.get("/readyz")).json()["status"] == "ready":
            """What was found before is good for a second."""
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        (storage,) = [each for each in ready.json()["degraded"] if each["component"] == "storage"]
        assert f"{home / 'state.db'} was deleted" in storage["detail"]
        public = httpx2.get(f"{it.up.url}/healthz")
        assert (public.status_code, public.json()["title"]) == (507, "State gone")
        assert str(tmp_path) not in public.text, "a stranger does not learn where the home is"
        assert it.post(f"{one('old', 'stop')}?wait=20")["state"] == "stopped"
        assert it.up.end() == 0
        assert "Traceback" not in it.up.errors()


def test_a_home_that_was_replaced_is_left_to_the_yard_that_holds_it_now(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as old:
        home.rename(tmp_path / "aside")
        with daemon(home) as new:
            new.register("mine", echo(), start=False)
            refused = old.client.post(SERVERS, json={"name": "lost", **echo()})
            assert refused.json()["type"] == "urn:mcpyard:error:state-gone"
            assert old.up.end() == 0
            announced = json.loads((home / "yard.json").read_bytes())
            assert announced["pid"] == new.up.process.pid
            new.register("more", echo(), start=False)
        with daemon(home) as again:
            assert [each["name"] for each in again.get(SERVERS)] == ["mine", "more"]


def test_up_says_that_a_yard_without_its_home_is_in_the_way(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with yard_up(home) as up:
        port = up.url.rpartition(":")[2]
        elsewhere = mcpyard("up", "--port", port, home=tmp_path / "other")
        assert f"is in use by another mcpyard (pid {up.process.pid})" in elsewhere.stderr
        shutil.rmtree(home)
        result = mcpyard("up", "--port", port, home=home)
        assert result.returncode == 1
        assert f"in use by mcpyard (pid {up.process.pid}), whose home was deleted" in result.stderr
        assert f"hint: stop it first: kill {up.process.pid}" in result.stderr
