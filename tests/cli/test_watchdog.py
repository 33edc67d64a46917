"""A stuck event loop of `mcpyard up`: named in the log, then ended; and what is none."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from mcpyard.cli.daemon.watchdog import STEPS
from tests.cli.commands import TIMEOUT, Up, echo, mcpyard, write_project, yard_up
from tests.cli.stuck_up import GO_ON
from tests.cli.test_up import health
from tests.process_families import all_gone

pytestmark = pytest.mark.real

LIMIT = 4
"""Seconds; enough for a busy machine to let the loop run once."""

NAMESPACE = ["unshare", "--user", "--pid", "--fork", "--mount-proc", "--kill-child"]
STUCK_UP = [sys.executable, "-m", "tests.cli.stuck_up"]


@pytest.fixture
def shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPYARD_WATCHDOG", str(LIMIT))
    # In front of what is there: `scripts/prove guards` has its own copy of the sources in it.
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)


def watchers(up: Up) -> list[psutil.Process]:
    children = psutil.Process(up.process.pid).children()
    return [each for each in children if "watchdog_process.py" in " ".join(each.cmdline())]


@contextlib.contextmanager
def yard_up_in_namespace(home: Path) -> Generator[Up]:
    """A yard that is the first process there is, as in a container."""
    up = Up(home, "--json", command=[*NAMESPACE, *STUCK_UP])
    try:
        assert json.loads(up.line())["pid"] == 1
        yield up
    finally:
        up.close()


def lives_on(up: Up, seconds: float) -> bool:
    """Whether it has not ended after so many seconds."""
    try:
        up.process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


@pytest.mark.spec("F2.3")
@pytest.mark.usefixtures("shortened")
def test_a_stuck_loop_is_named_in_the_log_and_ended_with_its_children(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo(), two=echo())
    with yard_up(tmp_path / "home", "--project", project, command=STUCK_UP) as up:
        for _ in range(2):
            up.event("status", status="connected")
        family = up.family()
        assert len(family) == 4, "the keeper, two servers and the watchdog's process"
        up.process.send_signal(signal.SIGUSR1)
        assert up.process.wait(TIMEOUT) == -signal.SIGKILL
        assert all_gone(family)
        assert f"did not run for {LIMIT} s" in up.errors()
    reason, _, stacks = (tmp_path / "home" / "yard.log").read_text().partition(" s: ending mcpyard")
    assert reason.endswith(f"Z ERROR The event loop did not run for {LIMIT}")
    assert "in count_forever\n" in stacks
    assert "most recent call" not in reason, "reading stacks can crash, so only the end does it"


@pytest.mark.spec("F2.3")
def test_a_slow_loop_is_named_in_the_log_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]), prepend=os.pathsep)
    log = tmp_path / "home" / "yard.log"
    os.mkfifo(go_on := tmp_path / GO_ON)
    with yard_up(tmp_path / "home", command=STUCK_UP) as up:
        up.process.send_signal(signal.SIGALRM)
        while "in wait_for_word\n" not in log.read_text():
            assert lives_on(up, 0.05)
        go_on.write_text("go on")
        assert health(up.url) == 200
        assert up.end() == 0
    assert "The event loop is at:\n" in log.read_text()


@pytest.mark.spec("F2.3")
@pytest.mark.usefixtures("shortened")
def test_a_process_that_was_stopped_and_continued_is_not_stuck(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home") as up:
        (watcher,) = watchers(up)
        before = watcher.num_ctx_switches().voluntary
        up.process.send_signal(signal.SIGSTOP)
        assert lives_on(up, 2 * LIMIT)
        assert watcher.num_ctx_switches().voluntary - before > STEPS, "it looked often enough"
        up.process.send_signal(signal.SIGCONT)
        assert health(up.url) == 200
        assert lives_on(up, 1.5 * LIMIT)
        assert up.end() == 0
    # Stacks that are read while the process goes on crash it now and then.
    assert "most recent call" not in (tmp_path / "home" / "yard.log").read_text()


@pytest.mark.usefixtures("shortened")
def test_the_first_process_of_a_container_is_ended_too(tmp_path: Path) -> None:
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a namespace of processes")
    with yard_up_in_namespace(tmp_path / "home") as up:
        (first,) = psutil.Process(up.process.pid).children()
        first.send_signal(signal.SIGUSR1)
        assert up.process.wait(TIMEOUT) == signal.SIGABRT


@pytest.mark.usefixtures("shortened")
def test_a_watchdog_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home", command=STUCK_UP) as up:
        (first,) = watchers(up)
        first.kill()
        first.wait(TIMEOUT)
        while not (new := [each for each in watchers(up) if each != first]):
            assert lives_on(up, 0.05)
        up.process.send_signal(signal.SIGUSR1)
        assert up.process.wait(TIMEOUT) == -signal.SIGKILL
        assert all_gone(new)
    assert "The watchdog process ended" in (tmp_path / "home" / "yard.log").read_text()


def test_the_watchdog_can_be_switched_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPYARD_WATCHDOG", "0")
    with yard_up(tmp_path / "home") as up:
        assert watchers(up) == []
        assert up.end() == 0


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_a_limit_that_is_no_time_is_refused(tmp_path: Path, text: str) -> None:
    refused = mcpyard("up", "--port", "0", home=tmp_path / "home", MCPYARD_WATCHDOG=text)
    assert refused.returncode == 2
    assert "MCPYARD_WATCHDOG" in refused.stderr


@pytest.mark.parametrize(("abstract", "limit"), [(True, "0"), (False, "30")])
def test_a_service_manager_hears_of_the_start_of_every_tick_and_of_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, *, abstract: bool
) -> None:
    address = f"@mcpyard-{tmp_path}" if abstract else str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    monkeypatch.setenv("MCPYARD_WATCHDOG", limit)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.settimeout(TIMEOUT)
        manager.bind(address.replace("@", "\0", 1) if abstract else address)
        with yard_up(tmp_path / "home") as up:
            messages = [manager.recv(100)]
            while messages.count(b"WATCHDOG=1") < 3 or b"READY=1" not in messages:
                messages.append(manager.recv(100))
            assert up.end() == 0
        while messages[-1] != b"STOPPING=1":
            messages.append(manager.recv(100))
    assert messages.count(b"READY=1") == 1


def test_a_service_manager_that_is_gone_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    with yard_up(tmp_path / "home") as up:
        assert health(up.url) == 200
        assert up.end() == 0
