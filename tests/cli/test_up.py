"""`mcpyard up`: ready, signals, locks, ports, readers that stop reading."""

import contextlib
import http.client
import json
import os
import pty
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.cli.commands import (
    MCPYARD,
    TIMEOUT,
    Up,
    answer,
    echo,
    mcpyard,
    missing,
    write_project,
    yard_up,
)
from tests.process_families import all_gone

pytestmark = pytest.mark.real


def health(url: str) -> int:
    address = urlsplit(url)
    with contextlib.closing(
        http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    ) as connection:
        connection.request("GET", "/healthz")
        return connection.getresponse().status


@pytest.fixture
def hung_up() -> Iterator[None]:
    """See to it that SIGHUP is not ignored, as it is for tests that are run by `nohup`."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.spec("F2.7")
@pytest.mark.usefixtures("hung_up")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_yard_and_all_its_children(tmp_path: Path, number: int) -> None:
    project = write_project(tmp_path / "p", one=echo(), two=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        for _ in range(2):
            up.event("status", status="connected")
        family = up.family()
        assert len(family) == 4, "the keeper, the watchdog's process and two servers"
        assert up.end(number) == 0
        assert all_gone(family)
        assert not (tmp_path / "home" / "yard.json").exists()


@pytest.mark.spec("F2.7")
@pytest.mark.usefixtures("hung_up")
def test_a_terminal_that_is_closed_ends_the_yard_and_all_its_children(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", deaf=echo("stubborn"))
    pid, terminal = pty.fork()
    if pid == 0:
        arguments = [*MCPYARD, "up", "--port", "0", "--json", "--project", str(project)]
        os.execve(sys.executable, arguments, os.environ | {"MCPYARD_HOME": str(tmp_path / "home")})  # noqa: S606
    output = b""
    while b'"status":"connected"' not in output.replace(b" ", b""):
        output += os.read(terminal, 1 << 16)
    family = psutil.Process(pid).children(recursive=True)
    os.close(terminal)
    assert len(family) == 3, "the keeper, the watchdog's process and the server"
    assert all_gone(family, TIMEOUT)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.spec("F2.7")
def test_a_yard_that_is_to_outlive_its_terminal_goes_on_after_a_hangup(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home", command=["nohup", *MCPYARD]) as up:
        up.process.send_signal(signal.SIGHUP)
        assert health(up.url) == 200
        assert up.end() == 0


def test_a_second_signal_ends_a_yard_that_waits_for_a_stubborn_server(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", deaf=echo("stubborn"))
    with yard_up(tmp_path / "home", "--project", project) as up:
        up.event("status", status="connected")
        family = up.family()
        up.process.send_signal(signal.SIGTERM)
        up.event("status", phase="stopping")
        began = time.monotonic()
        assert up.end(signal.SIGTERM) == 0
        assert time.monotonic() - began < 2.5, "the stop policy alone takes 5 s"
        assert all_gone(family)


def test_a_stubborn_server_is_gone_after_one_signal_too(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", deaf=echo("stubborn"))
    with yard_up(tmp_path / "home", "--project", project) as up:
        up.event("status", status="connected")
        family = up.family()
        assert up.end() == 0
        assert all_gone(family)


def test_the_second_yard_of_a_home_is_told_of_the_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with yard_up(home) as up:
        refused = mcpyard("up", "--port", "0", home=home)
        assert refused.returncode == 4
        assert f"pid {up.process.pid} at {up.url}" in refused.stderr
        port = urlsplit(up.url).port
        same_port = answer("up", "--port", port, home=home, code=4)
        assert same_port["error"]["type"] == "urn:mcpyard:error:yard-busy"
        assert health(up.url) == 200


def test_a_port_in_use_is_named_and_nothing_is_started(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    project = write_project(
        tmp_path / "p", marker={"command": "touch", "args": [str(mark)], "transport": "stdio"}
    )
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = mcpyard("up", "--port", port, "--project", project, home=tmp_path / "home")
    assert refused.returncode == 1
    assert f"port {port} of 127.0.0.1 is in use" in refused.stderr
    assert "hint: " in refused.stderr
    assert not mark.exists()
    with yard_up(tmp_path / "home"):
        """The home was left free."""


@pytest.mark.parametrize("host", ["999.1.2.3", "192.0.2.1"])
def test_a_host_that_is_not_here_is_refused(tmp_path: Path, host: str) -> None:
    refused = mcpyard("up", "--port", "0", "--host", host, home=tmp_path / "home")
    assert refused.returncode in {1, 2}
    assert host in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "65536"],
        ["--port", "-1"],
        ["--port", "x"],
        ["--project", "nowhere"],
        ["--project", "file"],
        ["--home", "file"],
        ["--host", "not a valid URL"],
        ["--fast"],
        ["extra"],
    ],
)
def test_options_that_make_no_sense_are_usage_errors(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "file").write_text("")
    refused = mcpyard("up", "--port", "0", *arguments, home=tmp_path / "home", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: ")
    assert refused.stdout == ""


def test_bytes_that_are_no_request_are_survived(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home") as up:
        port = urlsplit(up.url).port
        for junk in (b"\0\xff\n\n", b"GET /\xff\xfe HTTP/1.1\r\nHost: [::1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
                line.sendall(junk)
                assert line.recv(1 << 16).startswith(b"HTTP/1.1 4")
        assert health(up.url) == 200
        assert up.end() == 0
        assert "Traceback" not in up.errors()


def test_a_home_that_cannot_be_made_is_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = mcpyard("up", "--port", "0", home=tmp_path / "file" / "home", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: ")
    assert "Traceback" not in refused.stderr


def test_a_reader_that_stops_reading_stalls_nothing_and_is_told_to_resync(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p")
    with yard_up(tmp_path / "home", "--project", project, "--trust-folder") as up:
        write_project(project, **{f"s{number}": missing(tmp_path) for number in range(600)})
        token = (tmp_path / "home" / "token").read_text()
        deadline = time.monotonic() + 30
        while failed(up.url, token) < 600:
            assert time.monotonic() < deadline
        up.event("resync")
        assert up.end() == 0


def test_with_more_servers_than_events_are_kept_each_status_is_printed(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(1100)]
    off = {name: missing(tmp_path) | {"enabled": False} for name in names}
    project = write_project(tmp_path / "p", **off)
    with yard_up(tmp_path / "home", "--project", project, "--trust-folder") as up:
        for name in names:
            up.event("status", name=name, status="disconnected")


def failed(url: str, token: str) -> int:
    address = urlsplit(url)
    with contextlib.closing(
        http.client.HTTPConnection(address.hostname or "", address.port, timeout=5)
    ) as connection:
        connection.request("GET", "/healthz", headers={"Authorization": f"Bearer {token}"})
        statuses = json.loads(connection.getresponse().read())["servers"].values()
        return sum(each == "error" for each in statuses)


def test_a_reader_that_is_gone_does_not_end_the_yard(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        assert up.process.stdout
        up.process.stdout.close()
        up.process.stdout = None
        for _ in range(3):
            restarted = answer("restart", "one", home=tmp_path / "home")
            assert restarted["status"] == "connected"
        assert health(up.url) == 200
        assert up.end() == 0


def test_a_yard_without_servers_takes_less_than_80_mb(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home") as up:
        assert health(up.url) == 200
        assert psutil.Process(up.process.pid).memory_info().rss < 80_000_000


def test_the_limit_of_open_files_is_raised(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        with yard_up(tmp_path / "home") as up:
            limits = resource.prlimit(up.process.pid, resource.RLIMIT_NOFILE)
            assert limits == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_without_a_terminal_the_display_is_plain_lines(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", good=echo(), bad=echo("exits"))
    up = Up(tmp_path / "home", "--project", project)
    try:
        assert up.line().startswith("mcpyard ")
        lines: list[str] = []
        while not {"connected", "retrying"} <= {line.split(" ")[0] for line in lines}:
            lines.append(up.line())
        lines.append(up.line())
        assert any(line.endswith(" good: 7 tools") for line in lines)
        assert any(line.endswith(" bad: the process exited with code 3") for line in lines)
        assert any(line.strip().startswith("hint: ") for line in lines)
        assert not any("\x1b" in line for line in lines)
        assert up.end() == 0
    finally:
        up.close()


def test_what_goes_wrong_is_told_once_where_both_outputs_are_one_file(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", bad=missing(tmp_path))
    log = tmp_path / "log"
    with log.open("wb") as both:
        up = Up(tmp_path / "home", "--project", project, stdout=both.fileno(), stderr=both.fileno())
    try:
        until = time.monotonic() + TIMEOUT
        while "hint: " not in log.read_text() and time.monotonic() < until:
            select.select([], [], [], 0.05)
        assert up.end() == 0
        assert log.read_text().count("command not found") == 1
    finally:
        up.close()


def test_on_a_terminal_servers_that_start_share_the_last_line(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", good=echo())
    ours, theirs = pty.openpty()
    up = Up(tmp_path / "home", "--project", project, stdout=theirs)
    os.close(theirs)
    try:
        output = b""
        while b"good: 7 tools" not in output:
            output += os.read(ours, 1 << 16)
        assert b"starting 1: good" in output
        assert up.end() == 0
    finally:
        up.close()
        os.close(ours)


def test_only_a_named_project_is_run(tmp_path: Path) -> None:
    write_project(tmp_path, found=echo())
    with yard_up(tmp_path / "home") as up:
        assert up.event("status", name="found")["phase"] == "needs_approval"


def test_strict_skips_an_entry_that_leaves_out_its_transport(tmp_path: Path) -> None:
    loose = {key: value for key, value in echo().items() if key != "transport"}
    project = write_project(tmp_path / "p", loose=loose)
    with yard_up(tmp_path / "home", "--project", project, "--strict") as up:
        documents = up.event("documents")
        assert documents["servers"] == 0
        assert "transport" in documents["problems"][0]
