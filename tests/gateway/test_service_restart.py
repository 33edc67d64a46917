"""A service that restarts while programs call: the bridge waits, or a substitute hands over."""

import contextlib
import os
import shlex
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Generator
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest
from typer.main import get_group

from mcpyard.api.http_server.tls_files import Tls
from mcpyard.cli import autostart
from mcpyard.cli.daemon.binding import BindOptions
from mcpyard.cli.daemon.service_unit import ServiceOptions, make_unit, unit_path
from mcpyard.cli.daemon.startup_wait import is_ending
from mcpyard.cli.daemon.up_options import UpOptions
from mcpyard.cli.main import app
from mcpyard.store.home import Home, Running
from tests.cli.commands import TIMEOUT, Up, echo, mcpyard, write_project, yard_up
from tests.gateway.bridges import bridge, yard_of
from tests.gateway.test_bridge import ECHOED, home_of, text_of
from tests.process_families import all_gone

pytestmark = pytest.mark.real

SYSTEMCTL = """#!/bin/sh
echo "$*" >> '{folder}/notes'
case "$2" in
  show) cat '{folder}/state' ;;
  start) exec cat '{folder}/started' ;;
esac
"""
RESTARTING = "ActiveState=activating\nUnitFileState=enabled\n"


class Service:
    """The unit of a home, and a systemctl whose answers the test decides.

    Its `start` returns when something is written to `started`, as that of systemd returns when the
    service is ready.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.project = write_project(folder / "project", echo=echo())

    def install(self, state: str = RESTARTING) -> None:
        (self.folder / "bin").mkdir()
        program = self.folder / "bin" / "systemctl"
        program.write_text(SYSTEMCTL.format(folder=self.folder))
        program.chmod(0o755)
        os.mkfifo(self.folder / "started")
        self.reports(state)
        path = unit_path()
        path.parent.mkdir(parents=True)
        path.write_text(make_unit(ServiceOptions(self.home, self.port, self.project)))

    def reports(self, state: str) -> None:
        temporary = self.folder / "state.new"
        temporary.write_text(state)
        temporary.replace(self.folder / "state")

    def notes(self) -> str:
        path = self.folder / "notes"
        return path.read_text() if path.exists() else ""

    def command(self) -> list[str]:
        """What the unit runs, behind `mcpyard up`."""
        unit = make_unit(ServiceOptions(self.home, self.port, self.project))
        (line,) = [each for each in unit.splitlines() if each.startswith("ExecStart=")]
        return shlex.split(line)[5:]

    def tools_are_stored(self) -> bool:
        """Whether a daemon that starts next knows the tools before the server is connected."""
        state = f"file:{quote(str(self.home / 'state.db'))}?mode=ro"
        with contextlib.closing(sqlite3.connect(state, uri=True)) as connection:
            return bool(connection.execute("SELECT 1 FROM tools").fetchone())

    @contextlib.contextmanager
    def up(self) -> Generator[Up]:
        with yard_up(self.home, *self.command()) as up:
            yield up

    def started(self) -> None:
        (self.folder / "started").write_bytes(b"")


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Service]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    with home_of(tmp_path):
        yield Service(tmp_path)


def eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + TIMEOUT
    while not (reached := holds()) and time.monotonic() < until:
        os.sched_yield()
    return reached


def test_a_call_in_the_gap_of_a_restart_waits_for_the_service(service: Service) -> None:
    service.install()
    with bridge(service.home) as program:
        with service.up() as first:
            first.event("status", status="connected")
            program.greet()
            assert eventually(service.tools_are_stored)
            first.end(signal.SIGKILL)
        program.send(id=1, method="tools/call", params=ECHOED)
        assert eventually(lambda: "start mcpyard.service" in service.notes())
        assert Home(service.home).running() is None, "nothing else was started"
        with service.up() as again:
            service.started()
            while (message := program.hear()).get("id") != 1:
                pass
            assert text_of(message) == "hello"
            assert yard_of(service.home) == again.process.pid
            assert again.url == first.url


def test_a_substitute_has_the_options_of_the_last_daemon_and_hands_over(service: Service) -> None:
    with bridge(service.home) as program:
        with service.up() as first:
            first.event("status", status="connected")
            program.greet()
            assert eventually(service.tools_are_stored)
            first.end(signal.SIGKILL)
        assert text_of(program.ask("tools/call", **ECHOED)) == "hello", "it has the project"
        running = Home(service.home).running()
        assert running
        assert running.url == first.url
        substitute = psutil.Process(running.pid)
        family = [substitute, *substitute.children(recursive=True)]
        with service.up() as again:
            assert all_gone(family), "it stopped its servers and gave up the home"
            assert again.url == first.url
            again.event("status", status="connected")
            assert text_of(program.ask("tools/call", **ECHOED)) == "hello", "the session goes on"
            assert yard_of(service.home) == again.process.pid
            assert program.end() == 0


async def test_a_daemon_that_is_ending_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, looks = Home(tmp_path / "home"), list[str]()
    home.take()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        ending = f"http://127.0.0.1:{closed.getsockname()[1]}"
    home.announce(ending)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        successor = f"http://127.0.0.1:{listener.getsockname()[1]}"

        def looking(running: Running) -> bool:
            looks.append(running.url)
            if len(looks) == 3:
                home.announce(successor)
            return is_ending(running)

        monkeypatch.setattr(autostart, "is_ending", looking)
        reached = await autostart.reach_yard(home.folder)
    home.release()
    assert reached.url == successor
    assert looks == [ending] * 3 + [successor]


@pytest.mark.parametrize("state", ["inactive", "failed"])
def test_a_service_that_is_off_or_failed_is_replaced_by_a_substitute(
    service: Service, state: str
) -> None:
    service.install(f"ActiveState={state}\nUnitFileState=disabled\n")
    with bridge(service.home) as program:
        assert "result" in program.greet()
    assert "start" not in service.notes()


def test_an_enabled_service_that_is_not_running_is_started(service: Service) -> None:
    service.install("ActiveState=inactive\nUnitFileState=enabled\n")
    with bridge(service.home) as program:
        program.send(id=1, method="ping", params={})
        assert eventually(lambda: "start mcpyard.service" in service.notes())
        service.reports("ActiveState=failed\nUnitFileState=enabled\n")
        service.started()
        assert program.hear()["id"] == 1, "where that fails, by a substitute"


def test_a_service_of_another_home_is_not_asked(service: Service) -> None:
    service.install()
    other = service.folder / "other"
    with bridge(other) as program:
        assert "result" in program.greet()
        psutil.Process(yard_of(other)).terminate()
    assert service.notes() == ""


def test_options_that_cannot_be_used_any_more_do_not_keep_a_substitute_from_starting(
    service: Service,
) -> None:
    with service.up() as up:
        up.end()
    (service.project / ".mcp.json").unlink()
    service.project.rmdir()
    with bridge(service.home) as program:
        assert "result" in program.greet()


def test_the_recorded_options_are_those_of_the_command(tmp_path: Path) -> None:
    certificate, key = tmp_path / "cert", tmp_path / "key"
    certificate.touch()
    key.touch()
    arguments = [
        *("--host", "127.0.0.2", "--port", "9", "--project", str(tmp_path), "--strict"),
        *("--trust-folder", "--insecure", "--log-level", "debug", "--allow-host", "a"),
        *("--allow-host", "b", "--tls-cert", str(certificate), "--tls-key", str(key)),
    ]
    bind = BindOptions("127.0.0.2", 0, Tls(certificate, key), True, ("a", "b"))
    options = UpOptions(tmp_path, bind, tmp_path, True, True, log_level="debug")
    assert parsed(options.arguments(port=9)) == parsed(arguments)
    plain = UpOptions(tmp_path, BindOptions("127.0.0.1", 8712))
    assert parsed(plain.arguments(port=8712)) == parsed([])


def parsed(arguments: list[str]) -> dict[str, object]:
    return get_group(app).commands["up"].make_context("up", arguments).params


def test_the_record_of_the_options_holds_no_secret(service: Service) -> None:
    with service.up():
        record = service.home / "options.json"
        assert record.stat().st_mode & 0o777 == 0o600
        assert Home(service.home).token() not in record.read_text()


def test_install_is_not_stopped_by_a_substitute(service: Service) -> None:
    service.install("ActiveState=inactive\nUnitFileState=disabled\n")
    with bridge(service.home) as program:
        assert "result" in program.greet()
        done = mcpyard("service", "install", home=service.home)
        assert done.returncode == 0, done.stderr
