"""A yard never connects to itself."""

import sys
from pathlib import Path

import pytest

from mcpyard.app import open_yard
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import ServerFault, ThisYard
from tests.api.daemon import daemon
from tests.cli.commands import write_project

pytestmark = pytest.mark.real

BRIDGE = {"command": "mcpyard", "args": ["stdio"], "transport": "stdio"}

# Says of itself what it is told to, as a bridge in any disguise would.
MIRROR = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {},
            "serverInfo": {"name": "mcpyard", "version": "1", "instance": sys.argv[1]}}}
    else:
        answer = {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


async def test_an_entry_that_leads_back_is_shown_so_and_never_started() -> None:
    identity = SelfIdentity(addresses=frozenset({"http://127.0.0.1:8712"}))
    servers = {"loop": BRIDGE, "web": {"url": "http://localhost:8712/mcp", "type": "http"}}
    definitions = {name: {**each, "wanted": "running"} for name, each in servers.items()}
    async with open_yard(servers=definitions, environment={}, identity=identity) as yard:
        for name in servers:
            record = await yard.settled(name)
            facts = (record.this_yard, record.status, record.error, record.wanted)
            assert facts == (True, "disconnected", None, "stopped")
            assert record.warnings == [
                "points back to this gateway (loop), so it is never connected"
            ]
            for ask in (yard.start, yard.restart):
                with pytest.raises(ThisYard):
                    await ask(name)
        with pytest.raises(ServerFault) as refused:
            await yard.trial(BRIDGE)
        assert refused.value.cause
        assert refused.value.cause.code == "this_yard"


async def test_a_server_that_turns_out_to_be_this_yard_is_let_go_for_good() -> None:
    async with open_yard(environment={}) as yard:
        mirror = {"command": sys.executable, "args": ["-c", MIRROR, yard.instance]}
        yard.code.add("mirror", mirror)
        other = {"command": sys.executable, "args": ["-c", MIRROR, "another"]}
        yard.code.add("other", other)
        record = await yard.start("mirror", wait=20)
        assert (record.phase, record.pid) == ("failed", None)
        assert record.error
        assert record.error.code == "this_yard"
        assert (await yard.start("other", wait=20)).status == "connected"


def test_a_yard_that_is_up_knows_its_own_address_in_a_project(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    with daemon(tmp_path / "home", "--project", project, "--trust-folder") as yard:
        itself = {"url": f"{yard.up.url}/mcp", "type": "http", "transport": "http"}
        write_project(project, itself=itself, bridge=BRIDGE)
        while not yard.up.event("documents")["servers"]:
            pass
        for name in ("itself", "bridge"):
            assert yard.record(name)["thisYard"] is True
            assert yard.record(name)["status"] == "disconnected"


def test_a_bridge_in_disguise_is_known_by_what_it_says(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    with daemon(tmp_path / "home", "--project", project, "--trust-folder") as yard:
        line = f"exec {sys.executable} -m mcpyard stdio --home {yard.up.home}"
        disguised = {"command": "sh", "args": ["-c", line], "transport": "stdio"}
        write_project(project, loop=disguised)
        yard.up.event("status", name="loop")
        record = yard.until("loop", lambda server: server["phase"] == "failed")
        assert record["thisYard"] is False, "its command does not tell"
        assert record["error"]["code"] == "this_yard"
        assert record["pid"] is None
