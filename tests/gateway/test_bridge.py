"""`mcpyard stdio`: attaches to the yard, starts one where none runs, and leaves nothing behind."""

import contextlib
import os
import signal
from collections.abc import Generator
from pathlib import Path

import psutil
import pytest

from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.durations import read_duration, read_life
from tests.api.test_guard_up import certificate
from tests.cli.commands import TIMEOUT, echo, mcpyard, write_project, yard_up
from tests.gateway.bridges import Bridge, bridge, yard_of

pytestmark = pytest.mark.real

ECHOED = {"name": "mcp_echo_echo", "arguments": {"text": "hello"}}


@contextlib.contextmanager
def home_of(folder: Path) -> Generator[Path]:
    """A home whose yard, whoever started it, ends with the block."""
    home = folder / "home"
    try:
        yield home
    finally:
        with contextlib.suppress(AssertionError, psutil.NoSuchProcess):
            process = psutil.Process(yard_of(home))
            process.terminate()
            process.wait(TIMEOUT)


def text_of(answer: dict[str, object]) -> object:
    return answer["result"]["content"][0]["text"]  # pyright: ignore[reportIndexIssue]


def test_a_bridge_attaches_to_the_yard_that_runs(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", echo=echo())
    with yard_up(tmp_path / "home", "--project", project) as up, bridge(up.home) as program:
        up.event("status", status="connected")
        assert program.greet()["result"]["serverInfo"]["name"] == "mcpyard"
        assert text_of(program.ask("tools/call", **ECHOED)) == "hello"
        assert text_of(program.ask_modern("tools/call", **ECHOED)) == "hello"
        assert yard_of(up.home) == up.process.pid
        assert program.end() == 0
        assert program.errors() == ""


def test_where_no_yard_runs_one_is_started_and_outlives_the_bridge(tmp_path: Path) -> None:
    with home_of(tmp_path) as home:
        with bridge(home) as program:
            assert program.ask_modern("tools/list")["result"]["tools"] == []
            assert program.end() == 0
        first = yard_of(home)
        assert first != program.process.pid
        with bridge(home) as again:
            assert "result" in again.greet()
            assert yard_of(home) == first, "the second one attached"
        command = psutil.Process(first).cmdline()
        assert command[command.index("--idle-exit") + 1] == "10m"


def test_of_many_that_start_at_once_all_attach_to_the_winner(tmp_path: Path) -> None:
    with home_of(tmp_path) as home, contextlib.ExitStack() as stack:
        programs: list[Bridge] = [stack.enter_context(bridge(home)) for _ in range(6)]
        instances = {program.greet()["result"]["serverInfo"]["instance"] for program in programs}
        assert len(instances) == 1
        assert [program.end() for program in programs] == [0] * 6
        yards = [each for each in psutil.process_iter() if _is_up(each, home)]
        assert [each.pid for each in yards] == [yard_of(home)]


def _is_up(process: psutil.Process, home: Path) -> bool:
    with contextlib.suppress(psutil.Error):
        command = process.cmdline()
        return "up" in command and str(home) in command
    return False


def test_a_yard_that_nobody_needs_ends_by_itself(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home", "--idle-exit", "5") as up:
        with bridge(up.home) as program:
            program.greet()
            program.ask("ping")
            # The session's stream is open, so somebody is there.
            assert up.process.poll() is None
            program.end()
        assert up.process.wait(TIMEOUT) == 0


@pytest.mark.parametrize("time", ["soon", "0", "-1", "10d", "1.5h", ""])
def test_a_time_that_is_none_is_refused(time: str) -> None:
    with pytest.raises(CliError, match=f'--idle-exit: "{time}" is not a duration'):
        read_duration("--idle-exit", time)


def test_a_time_is_in_seconds_minutes_or_hours() -> None:
    times = [read_duration("--idle-exit", time) for time in ("90", "90s", "10m", "1h")]
    assert times == [90, 90, 600, 3600]


def test_the_life_of_a_token_is_in_minutes_hours_or_days() -> None:
    times = [read_life("--expires", time) for time in ("30m", "12h", "30d")]
    assert times == [1800, 43_200, 2_592_000]
    for text in ("30", "90s", "0d", "3651d", "soon"):
        with pytest.raises(CliError, match=r"^--expires: "):
            read_life("--expires", text)


def test_a_session_goes_on_when_the_yard_was_started_anew(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", echo=echo())
    with bridge(tmp_path / "home") as program:
        with yard_up(tmp_path / "home", "--project", project) as up:
            up.event("status", status="connected")
            program.greet()
            assert text_of(program.ask("tools/call", **ECHOED)) == "hello"
            up.end()
        with yard_up(tmp_path / "home", "--project", project) as up:
            up.event("status", status="connected")
            assert text_of(program.ask("tools/call", **ECHOED)) == "hello"


def test_a_session_goes_on_when_the_token_was_replaced(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", echo=echo())
    with yard_up(tmp_path / "home", "--project", project) as up, bridge(up.home) as program:
        up.event("status", status="connected")
        program.greet()
        assert mcpyard("token", "rotate", home=up.home).returncode == 0
        assert text_of(program.ask("tools/call", **ECHOED)) == "hello"
        assert mcpyard("token", "rotate", home=up.home).returncode == 0
        assert text_of(program.ask_modern("tools/call", **ECHOED)) == "hello"
        assert text_of(program.ask("tools/call", **ECHOED)) == "hello"
        assert program.end() == 0


def test_what_is_no_message_is_answered_and_the_rest_goes_on(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home") as up, bridge(up.home) as program:
        program.write(b"{ not json")
        assert program.hear()["error"]["code"] == -32700
        filler = "x" * (5 << 20)
        assert program.ask("tools/call", name=filler)["error"]["data"] == {"status": 413}
        assert "result" in program.greet()


def test_an_unknown_profile_is_said_so(tmp_path: Path) -> None:
    with yard_up(tmp_path / "home") as up, bridge(up.home, "--profile", "none such") as program:
        answer = program.ask_modern("tools/list")
        assert 'no profile "none such"' in answer["error"]["message"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_bridge_at_once(number: int, tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", echo=echo())
    with yard_up(tmp_path / "home", "--project", project) as up, bridge(up.home) as program:
        up.event("status", status="connected")
        program.greet()
        program.send(id=1, method="tools/call", params={"name": "mcp_echo_hang", "arguments": {}})
        program.ask("ping")
        os.kill(program.process.pid, number)
        assert program.process.wait(TIMEOUT) == 0
        assert up.process.poll() is None


def test_a_bridge_knows_a_yard_by_its_certificate(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path, "some.name")
    with (
        yard_up(tmp_path / "home", "--tls-cert", cert, "--tls-key", key) as up,
        bridge(up.home) as program,
    ):
        assert up.url.startswith("https://")
        assert program.greet()["result"]["serverInfo"]["name"] == "mcpyard"
        assert program.end() == 0
