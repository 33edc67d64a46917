"""Secrets that were seeded are nowhere to be found, and files are their owner's alone."""

import asyncio
import contextlib
import json
import logging
import re
import secrets
import stat
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest

from mcpyard.api.app import build
from mcpyard.api.audit import Audit
from mcpyard.app import WiredYard, open_yard
from mcpyard.sources.project_file import ProjectFile
from tests.api.asgi import YardApi, client_of, keys_of
from tests.api.doors import every_door, let_in
from tests.cli.commands import Up, answer, echo, missing, write_project

pytestmark = pytest.mark.real

DISCARD = "http://127.0.0.1:9/mcp"
VARIABLE = "SEEDED_VARIABLE"


@dataclass(frozen=True, slots=True)
class Seeds:
    """Values that must not be found again, each unlike any other text."""

    values: dict[str, str] = field(default_factory=dict[str, str])

    def new(self, name: str) -> str:
        return self.values.setdefault(name, f"{name}-{secrets.token_hex(12)}")

    def leaks(self, text: str) -> list[str]:
        return [name for name, value in self.values.items() if value in text]


def definitions(seeds: Seeds, folder: Path) -> dict[str, dict[str, object]]:
    env = {"API_KEY": seeds.new("env"), "REFERRED": f"${{{VARIABLE}}}"}
    headers = {"Authorization": f"Bearer {seeds.new('header')}", "X-Key": f"${{{VARIABLE}}}"}
    remote: dict[str, object] = {"type": "http", "url": DISCARD, "args": [], "headers": headers}
    paths = f"{DISCARD}/{seeds.new('path')}/mcp?key={seeds.new('query')}"
    args = ["--token", seeds.new("argument_value"), f"--api-key={seeds.new('option')}"]
    args += ["-e", f"LEVEL={seeds.new('assigned')}", f"db://u:{seeds.new('password')}@h/x"]
    return {
        "good": echo(env=env),
        "exits": echo("exits", env=env),
        "gone": {**missing(folder), "env": env},
        "remote": remote,
        "far": {"type": "http", "url": paths},
        "loud": {"command": "sh", "args": ["-c", 'echo "$@" >&2; exit 3', "sh", *args]},
        "unset": echo(env={**env, "KEPT": "${keyring:nothing}"}),
    }


@contextlib.asynccontextmanager
async def seeded(seeds: Seeds, folder: Path) -> AsyncGenerator[YardApi]:
    """A yard with a home, whose servers hold secrets and fail in many ways."""
    project = write_project(folder / "p", **definitions(seeds, folder))
    sources, closing = [ProjectFile(project)], asyncio.Event()
    environment = {VARIABLE: seeds.new("variable")}
    async with open_yard(sources=sources, home=folder / "home", environment=environment) as yard:
        async with asyncio.timeout(20):
            await yard.settled("good")
            await yard.settled("unset")
        audit = Audit(folder / "home" / "audit.log")
        app = build(yard, keys=keys_of(yard), hosts=[], closing=closing, audit=audit)
        async with client_of(app) as client:
            yield YardApi(yard, app, client, closing)


def bodies(seeds: Seeds, method: str, path: str) -> Iterator[object]:
    """What each route is sent: something good, and much that is not."""
    yield {}
    if method == "PATCH":
        yield from ({"env": {"API_KEY": 5}}, {"headers": []}, {"command": ""}, {"timeout": -1})
        yield {"env": {"NEW_KEY": seeds.new("patched")}, "url": 5}
    if method == "POST":
        key = {"K": seeds.new("posted")}
        yield {"name": "good", "command": "x", "env": key}
        yield {"name": "new", "command": 5, "env": key, "headers": {"H": [seeds.new("odd")]}}
        yield {"command": "/nowhere/at/all", "args": [], "env": key}
        yield {"arguments": {"text": "hi"}}
        yield {"arguments": {"text": {"deep": seeds.new("argument")}}, "timeoutMs": 50}
        yield {"folder": "relative"}
        pasted = {"mcpServers": {"pasted": {"command": "x", "env": key}}}
        if path != "/api/mcp/parse":
            yield {"text": json.dumps(pasted), "dryRun": True}
            yield {"text": json.dumps(pasted)[:-2], "dryRun": True}


async def walk(api: YardApi, seeds: Seeds) -> AsyncGenerator[tuple[str, httpx2.Response]]:
    for method, path in every_door(api):
        # What these two answer is what the caller asked to see.
        if path.endswith("/reveal") or path in {"/api/tokens/rotate", "/api/events"}:
            continue
        for name in (*definitions(seeds, Path()), "nobody"):
            filled = path.replace("/servers/x", f"/servers/{name}").replace(
                "/tools/x", "/tools/echo"
            )
            for body in bodies(seeds, method, path) if method in {"PATCH", "POST"} else (None,):
                if method == "DELETE" and name != "gone":
                    continue
                where = f"{filled}?wait=0" if method == "POST" else filled
                yield f"{method} {where}", await api.client.request(method, where, json=body)
            if filled == path:
                break


@pytest.mark.spec("F3.3")
@pytest.mark.timeout(120)
async def test_no_answer_log_line_event_or_file_holds_a_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seeds = Seeds()
    async with seeded(seeds, tmp_path) as api:
        async with let_in(api) as browser:
            token = await browser.client.post(
                "/api/tokens", json={"name": "client"}, headers=browser.headers()
            )
            seeds.values["call token"] = token.json()["token"]
            seeds.values["key"] = browser.key
            seeds.values["cookie"] = browser.client.headers["Cookie"].split("=", 1)[1]
        statuses: set[int] = set()
        async for where, response in walk(api, seeds):
            statuses.add(response.status_code)
            assert not seeds.leaks(response.text + str(response.headers)), where
        assert {200, 201, 204, 400, 404, 409, 422, 502} <= statuses
        await api.client.post("/api/mcp/tools/mcp_good_echo/call", json={"arguments": {"text": 5}})
        for path in ("/metrics", "/api/mcp/calls", "/api/mcp/servers", "/api/openapi.json"):
            assert not seeds.leaks((await api.get(path)).text), path
        api.closing.set()
        streamed = (await api.client.get("/api/events?after=0")).text
        events = [event async for event in finished(api.yard)]
    assert len(events) > 10
    assert not seeds.leaks(streamed + repr(events))
    assert not seeds.leaks(caplog.text)
    home = tmp_path / "home"
    assert not seeds.leaks((home / "audit.log").read_text())
    kept_by_hash = Seeds({name: seeds.values[name] for name in ("call token", "key", "cookie")})
    for file in home.rglob("*"):
        if file.is_file():
            assert not kept_by_hash.leaks(file.read_bytes().decode("latin-1")), file
            assert not seeds.leaks(file.read_text("latin-1")) or file.suffix != ".log"


async def finished(yard: WiredYard) -> AsyncGenerator[object]:
    """Every event so far."""
    reader = yard.events(after=0)
    reader.finish()
    async for event in reader:
        yield event


async def test_a_secret_is_shown_to_the_owner_who_asks_for_it(tmp_path: Path) -> None:
    seeds = Seeds()
    async with seeded(seeds, tmp_path) as api:
        revealed = (await api.post("/api/mcp/servers/good/reveal")).json()
        assert revealed["env"] == {"API_KEY": seeds.new("env"), "REFERRED": f"${{{VARIABLE}}}"}


@pytest.mark.parametrize("how", [["--json"], []])
def test_up_prints_no_secret_and_keeps_its_files_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: list[str]
) -> None:
    seeds, home = Seeds(), tmp_path / "home"
    monkeypatch.setenv(VARIABLE, seeds.new("variable"))
    monkeypatch.setenv("MCPYARD_TOKEN", seeds.new("admin"))
    project = write_project(tmp_path / "p", **definitions(seeds, tmp_path))
    up = Up(home, "--project", project, *how)
    try:
        lines = [up.line()]
        while not re.search(r"^connected +good|good.*\"phase\": \"connected\"", lines[-1]):
            lines.append(up.line())
        seeds.values["call token"] = answer("token", "create", "t", home=home)["token"]
        seeds.values["link"] = answer("login-link", home=home)["url"].split("link=")[1]
        answer("stop", "good", home=home)
        listed = json.dumps([answer("ls", home=home), answer("token", "ls", home=home)])
        assert not seeds.leaks(listed)
        assert up.end() == 0
        assert up.process.stdout
        lines.append(up.process.stdout.read().decode())
        assert not seeds.leaks("\n".join(lines))
        assert not seeds.leaks(up.errors())
    finally:
        up.close()
    assert not seeds.leaks((home / "audit.log").read_text())
    assert "/api/tokens" in (home / "audit.log").read_text()
    check_private(home)


def test_the_home_is_private_while_a_yard_runs(tmp_path: Path) -> None:
    up = Up(tmp_path / "home", "--json")
    try:
        up.wait_ready()
        answer("token", "create", "t", home=tmp_path / "home")
        assert check_private(tmp_path / "home") >= {"token", "yard.json", "audit.log", "state.db"}
    finally:
        up.close()


def check_private(home: Path) -> set[str]:
    """The names of the files in a home, all of them their owner's alone."""
    names: set[str] = set()
    for each in (home, *home.rglob("*")):
        names.add(each.name)
        mode = 0o700 if each.is_dir() else 0o600
        assert stat.S_IMODE(each.lstat().st_mode) == mode, each
    return names
