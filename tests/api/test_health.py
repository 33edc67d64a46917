"""The probes tell what does not work, calls are served meanwhile, and details are the owner's."""

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mcpyard.runtime.processes.keeper_client import KeeperClient, Pulse
from tests.api.asgi import asked_yard, client_of
from tests.api.daemon import Daemon, daemon, one
from tests.api.fake_yard import faked
from tests.api.no_room import no_room
from tests.cli.commands import MCPYARD, echo, yard_up
from tests.cli.test_bare_machine import UNKNOWN_USER, needs_namespaces, shell

pytestmark = pytest.mark.real

TOKEN = "of-" + "this-test"
PROBES: dict[str, dict[str, str]] = {"/livez": {}, "/readyz": {"status": "ready"}, "/healthz": {}}
DEFAULTS: dict[str, Any] = KeeperClient.__init__.__kwdefaults__ or {}
SMALL_DISK = 'mkdir -p "$0"; mount -t tmpfs -o size=2m none "$0"; exec "$@"'


def until(client: httpx2.Client, wanted_state: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first answer of `/readyz` that is so; checks run when they are asked for."""
    while not wanted_state(readiness := client.get("/readyz").json()):
        pass
    return readiness


def components(readiness: dict[str, Any]) -> set[str]:
    return {each["component"] for each in readiness.get("degraded", ())}


def is_ready(readiness: dict[str, Any]) -> bool:
    return readiness == {"ok": True, "status": "ready"}


def served(it: Daemon) -> bool:
    call = it.client.post(one("one", "tools", "echo", "call"), json={"arguments": {"text": "x"}})
    return call.status_code == 200


def fill(path: Path) -> None:
    """Write to a file until its disk is full."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def with_server(it: Daemon) -> None:
    it.register("one", echo(), start=True)
    it.until("one", lambda each: each["status"] == "connected")


def test_a_full_disk_degrades_and_the_calls_that_are_not_noted_are_counted(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        with_server(it)
        for path, status in PROBES.items():
            assert httpx2.get(it.up.url + path).json() == {"ok": True, **status}
            assert httpx2.head(it.up.url + path).status_code == 200
        assert it.get("/livez") == {"ok": True}
        assert until(it.client, is_ready)
        with no_room(it.up.process.pid):
            assert served(it)
            assert it.client.get("/api/mcp/calls").status_code == 200
            both = until(it.client, lambda each: components(each) >= {"storage", "journal"})
            storage, journal = both["degraded"][:2]
            assert (both["ok"], both["status"]) == (True, "degraded")
            assert storage["detail"] == f"{tmp_path / 'home'} is not writable: File too large"
            assert storage["hint"] == "Free some disk space, then try again."
            assert journal["detail"] == "1 calls were not recorded since mcpyard started"
            health = it.get("/healthz")
            assert (health["ok"], health["status"]) == (True, "degraded")
            assert components(health) == components(both)
            assert health["servers"] == {"one": "connected"}
            for path in ("/readyz", "/healthz"):
                public = httpx2.get(it.up.url + path)
                assert (public.status_code, public.json()) == (
                    200,
                    {"ok": True, "status": "degraded"},
                )
            assert it.get("/livez") == {"ok": True}
        until(it.client, lambda each: components(each) == {"journal"})
        assert it.get("/api/mcp/calls")["dropped"] == 1
        page = it.client.get("/metrics").text
        families = {each.name: each for each in text_string_to_metric_families(page)}
        assert [each.value for each in families["mcpyard_journal_dropped"].samples] == [1]
        assert [each.value for each in families["mcpyard_journal_trimmed"].samples] == [0]


@needs_namespaces
def test_a_disk_that_others_filled_degrades_until_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_TOKEN", TOKEN)
    home = tmp_path / "home"
    with yard_up(home, command=shell(SMALL_DISK, home)) as up:
        filling = Path(f"/proc/{up.process.pid}/root{home}/filling")
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=up.url, headers=headers, timeout=30) as client:
            assert until(client, is_ready)
            fill(filling)
            full = until(client, lambda each: "storage" in components(each))
            assert (
                full["degraded"][0]["detail"] == f"{home} is not writable: No space left on device"
            )
            filling.unlink()
            assert until(client, is_ready)


@needs_namespaces
def test_a_home_that_became_read_only_degrades(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCPYARD_TOKEN", TOKEN)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with yard_up(home, command=[*UNKNOWN_USER, *MCPYARD]) as up:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        with httpx2.Client(base_url=up.url, headers=headers, timeout=30) as client:
            assert until(client, is_ready)
            home.chmod(0o500)
            locked = until(client, lambda each: "storage" in components(each))
            assert locked["degraded"][0]["detail"] == f"{home} is not writable: Permission denied"
            assert locked["degraded"][0]["hint"].startswith("Check the permissions")
            home.chmod(0o700)
            assert until(client, is_ready)


async def test_a_hung_keeper_degrades_and_calls_are_served_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As in `mcpyard up`, where it takes ten times as long.
    monkeypatch.setitem(DEFAULTS, "pulse", Pulse(seconds=0.2, misses=1000))
    async with asked_yard(one=echo()) as api:

        async def found(count: int) -> list[Any]:
            """What does not work, as soon as it is so much."""
            while True:
                degraded = (await api.get("/readyz")).json().get("degraded", [])
                if len(degraded) == count:
                    return degraded
                await asyncio.sleep(0.01)

        children = psutil.Process().children()
        (keeper,) = [each for each in children if "keeper.py" in " ".join(each.cmdline())]
        await found(0)
        keeper.suspend()
        (degraded,) = await found(1)
        assert degraded["component"] == "keeper"
        assert f"(pid {keeper.pid})" in degraded["detail"]
        called = await api.post(one("one", "tools", "echo", "call"), {"arguments": {"text": "x"}})
        assert called.status_code == 200
        async with client_of(api.app, {}) as anonymous:
            public = (await anonymous.get("/readyz")).json()
        assert public == {"ok": True, "status": "degraded"}
        keeper.resume()
        await found(0)


async def test_a_yard_that_stops_is_not_ready_and_lives(tmp_path: Path) -> None:
    async with faked(tmp_path / "home") as it:
        assert (await it.client.get("/readyz")).json() == {"ok": True, "status": "ready"}
        it.closing.set()
        answer = await it.client.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"ok": False, "status": "stopping"})
        assert (await it.client.get("/livez")).status_code == 200
