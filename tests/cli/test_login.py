"""`mcpyard login` at a running yard, with a real browser's part played by the test."""

import asyncio
import json
import os
import subprocess
from collections.abc import Generator
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.api.office import Office, consent
from tests.cli.commands import MCPYARD, TIMEOUT, answer, echo, mcpyard, write_project, yard_up
from tests.wire.servers import asgi_server

pytestmark = pytest.mark.real


@pytest.fixture
def office() -> Generator[Office]:
    issuer = Office()
    with asgi_server(issuer.app()) as issuer.base:
        yield issuer


@pytest.fixture
def home(tmp_path: Path, office: Office) -> Generator[Path]:
    far = {"url": f"{office.base}/mcp", "type": "http"}
    project = write_project(tmp_path / "p", far=far, near=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        up.event("status", name="far", phase="needs_auth")
        yield tmp_path / "home"


def logging_in(home: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*MCPYARD, "login", "far", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"MCPYARD_HOME": str(home)},
    )


def come_back(url: str) -> None:
    """What a browser does: sign in at the page, and follow the way back to the yard."""
    with urlopen(asyncio.run(consent(url)), timeout=TIMEOUT) as page:  # noqa: S310  loopback
        assert b"is signed in" in page.read()


def test_it_prints_the_address_and_waits_until_the_server_is_connected(home: Path) -> None:
    assert (
        "mcpyard login far"
        in mcpyard("ls", home=home).stdout + mcpyard("show", "far", home=home).stdout
    )
    with logging_in(home) as running:
        assert running.stdout
        line = running.stdout.readline()
        assert line.startswith("sign in at: http://127.0.0.1:")
        come_back(line.removeprefix("sign in at: ").strip())
        assert running.stdout.read() == "far: signed in, connected\n"
    assert running.returncode == 0
    called = answer("call", "mcp_far_greet", home=home)
    assert called["content"][0]["text"] == "good day"
    assert mcpyard("login", "far", home=home).stdout == "far: no sign-in required, connected\n"


def test_for_programs_it_prints_one_object_a_line(home: Path) -> None:
    with logging_in(home, "--json") as running:
        assert running.stdout
        come_back(json.loads(running.stdout.readline())["authorizationUrl"])
        assert json.loads(running.stdout.readline())["status"] == "connected"
    assert running.returncode == 0


def test_a_server_that_is_stopped_is_started_for_it(home: Path) -> None:
    mcpyard("stop", "far", home=home)
    with logging_in(home, "--json") as running:
        assert running.stdout
        come_back(json.loads(running.stdout.readline())["authorizationUrl"])
    assert answer("show", "far", home=home)["status"] == "connected"


def test_when_nobody_comes_it_ends_with_6(home: Path) -> None:
    result = mcpyard("login", "far", "--wait", "0.2", home=home)
    assert result.returncode == 6
    assert "error: sign-in not completed within 0.2 seconds" in result.stderr


def test_without_waiting_the_address_is_all(home: Path) -> None:
    reply = answer("login", "far", "--wait", "0", "--no-browser", home=home)
    assert reply["authorizationUrl"].startswith("http://127.0.0.1:")


def test_what_has_no_sign_in_is_told(home: Path) -> None:
    mcpyard("stop", "near", home=home)
    error = answer("login", "near", home=home, code=2)["error"]
    assert error["type"] == "urn:mcpyard:error:no-sign-in"
    assert answer("show", "near", home=home)["state"] == "stopped"
    nobody = answer("login", "nobody", home=home, code=2)["error"]
    assert nobody["type"] == "urn:mcpyard:error:server-unknown"
