"""What an empty daemon loads: each library that nobody asked for yet costs every start of it."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

pytestmark = pytest.mark.real

LATER = {
    "typer": "the library for command lines",
    "click": "the library for command lines",
    "uvicorn.main": "the command line of uvicorn",
    "rich": "tables on a terminal",
    "starlette.routing": "the REST API",
    "starlette.responses": "the REST API",
    "jsonschema_rs": "calls of tools",
    "mcpyard.catalog.validators": "calls of tools",
    "anyio._backends": "remote servers",
    "importlib.metadata": "plugins of pydantic",
    "html.entities": "a page for who is not signed in",
    "jinja2": "the page",
    "mcpyard.web": "the page",
    "mcpyard.api.rest": "the REST API",
    "mcpyard.api.openapi": "the document of the REST API",
    "mcpyard.yard.clients": "the files of other programs",
    "mcpyard.formats.registry": "the files of other programs",
    "tomli": "the files of other programs",
    "tomllib": "the files of other programs",
    "mcpyard.agents": "agents of this process",
    "mcpyard.yard.toolbox": "agents of this process",
    "mcpyard.client.attached": "clients of another process",
    "httpx2": "remote servers",
    "mcp": "signing in at remote servers",
    "cryptography": "signing in at remote servers",
    "psutil": "a port that is in use",
    "webbrowser": "--open",
}
"""Modules that are loaded at their first use, and what uses them."""

# It ends by the first signal as soon as it is ready.
PROGRAM = """
import os, signal, sys
from mcpyard.cli import launcher
from mcpyard.cli.commands import up

def ready(before=up._spare_the_collector):
    before()
    print("loaded:", *sys.modules, file=sys.stderr)
    os.kill(os.getpid(), signal.SIGTERM)

up._spare_the_collector = ready
launcher.run(sys.argv[1:])
"""

# Its interfaces are loaded only when the first server runs, or too late.
SERVERS_FIRST = """
import os, sys, threading, time
from mcpyard.cli import launcher
from mcpyard.cli.commands import up

load, ready = up._load_interfaces, up._spare_the_collector
started, limit = sys.argv.pop(), time.monotonic() + 30

def load_late():
    assert not [each for each in sys.modules if each.startswith(("uvicorn.", "mcpyard.gateway"))]
    while not os.path.exists(started) and time.monotonic() < limit:
        threading.Event().wait(0.01)
    print("started:", os.path.exists(started))
    return load()

def end():
    ready()
    os.kill(os.getpid(), 15)

up._load_interfaces, up._spare_the_collector = load_late, end
launcher.run(sys.argv[1:])
"""

# It tells what it loaded when it is ended.
PROBED = """
import atexit, sys
from mcpyard.cli import launcher

atexit.register(lambda: print("loaded:", *sys.modules, file=sys.stderr))
launcher.run(sys.argv[1:])
"""


def test_probes_wait_for_no_other_route(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    words = ["up", "--json", "--port", "0", "--home", "home"]
    with subprocess.Popen(
        [sys.executable, "-c", PROBED, *words], cwd=tmp_path, stdout=pipe, stderr=pipe, text=True
    ) as process:
        assert process.stdout
        url = json.loads(process.stdout.readline())["url"]
        for probe in ("/livez", "/readyz", "/healthz"):
            assert httpx2.get(url + probe, trust_env=False).json()["ok"] is True
            assert httpx2.head(url + probe, trust_env=False).status_code == 200
        process.terminate()
        _, errors = process.communicate(timeout=30)
    modules = {*errors.rpartition("loaded:")[2].split()}
    assert "mcpyard.api.health" in modules
    assert not modules & {"mcpyard.api.rest", "mcpyard.api.definitions", "mcpyard.api.openapi"}


def test_servers_start_before_the_interfaces_are_loaded(tmp_path: Path) -> None:
    started = tmp_path / "started"
    server = {"command": "sh", "args": ["-c", 'touch "$0"; exec cat', str(started)]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"files": server}}))
    words = ["up", "--json", "--port", "0", "--home", "home", "--project", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-c", SERVERS_FIRST, *words, str(started)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    assert "started: True" in run.stdout.splitlines()


def test_a_watched_project_loads_the_watcher_alone(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text('{"mcpServers": {}}')
    words = ["up", "--json", "--port", "0", "--home", "home", "--project", str(tmp_path)]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    loaded = {*run.stderr.rpartition("loaded:")[2].split()}
    assert "watchfiles._rust_notify" in loaded
    assert not loaded & {"watchfiles.main", "anyio", "multiprocessing"}


def test_an_empty_daemon_loads_nothing_that_nobody_asked_for(tmp_path: Path) -> None:
    words = ["up", "--json", "--port", "0", "--home", str(tmp_path / "home")]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    (line,) = [each for each in run.stderr.splitlines() if each.startswith("loaded:")]
    loaded = line.split()
    assert "mcpyard.gateway.app" in loaded
    assert {name: LATER[name] for name in LATER if name in loaded} == {}
