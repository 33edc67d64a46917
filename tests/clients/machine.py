"""A machine with programs on it: their files in a folder, a yard beside them, and its routes."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from mcpyard.api.app import build
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.formats.locations import ClientFolders
from mcpyard.runtime.clock import SystemClock
from mcpyard.sources.client_files import DiskClientFiles
from mcpyard.sources.database import DatabaseSource
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.sqlite.store import Store
from mcpyard.testing import FakeServers
from mcpyard.yard.clients.clients import Clients
from mcpyard.yard.clients.transaction import ClientReach
from mcpyard.yard.ports import Ports
from mcpyard.yard.yard import YardCore
from tests.api.asgi import TOKEN, client_of

FILES = {
    "claude": ".claude.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "copilot": ".copilot/mcp-config.json",
}


def claude_text(name: str, mode: str) -> str:
    """A file of Claude Code's with one server and more than servers in it."""
    return f"""{{
  "numStartups": 7,
  "mcpServers": {{
    "{name}": {{
      "command": "npx",
      "args": ["-y", "@acme/files"],
      "env": {{ "API_KEY": "a-secret-value", "MODE": "{mode}" }}
    }}
  }},
  "theme": "dark"
}}"""


@dataclass(frozen=True, slots=True)
class Machine:
    """The folders of a machine, and a yard that reaches the programs on it."""

    home: Path
    project: Path
    yard: YardCore
    http: httpx2.AsyncClient

    @property
    def clients(self) -> Clients:
        return self.yard.clients

    def path(self, client: str) -> Path:
        return self.home / FILES[client]

    def read(self, client: str) -> str:
        return self.path(client).read_bytes().decode()

    def json(self, client: str) -> Any:  # noqa: ANN401  any JSON
        return json.loads(self.read(client))

    async def get(self, path: str, **query: str) -> Any:  # noqa: ANN401  any JSON
        answer = await self.http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def copy(self, source: str, target: str, name: str = "x", **more: object) -> Any:  # noqa: ANN401  any JSON
        body = {"from": source, "to": target, "name": name, **more}
        answer = await self.http.post("/api/clients/copy", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def patch(self, client: str, patch: Mapping[str, object], **query: str) -> Any:  # noqa: ANN401  any JSON
        path = f"/api/clients/{client}/servers/x"
        answer = await self.http.patch(path, json=patch, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def lay(home: Path, **texts: str) -> Path:
    """Write the files of clients into a folder."""
    for client, text in texts.items():
        path = home / FILES[client]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return home


async def paused() -> None:
    """Stands for the moment in which a program may overwrite what was written."""


@asynccontextmanager
async def machine(
    folder: Path, lock_timeout: float = 5.0, /, **texts: str
) -> AsyncGenerator[Machine]:
    """A machine with these files on it; its yard serves a project that has no file yet."""
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    lay(home, **texts)
    store = await Store.open(folder / "state")
    clock, closing = SystemClock(), asyncio.Event()
    around = ClientFolders({}, str(home))
    files = DiskClientFiles(folder / "state" / "locks", timeout=lock_timeout)
    yard = YardCore(
        Ports(
            [DatabaseSource(store.definitions), ProjectFile(project)],
            store.memory,
            store.policies,
            FakeServers(),
            clock,
            {}.get,
            clients=lambda: ClientReach(
                files,
                store.edits,
                store.dropped_fields,
                around,
                owned=store.owned_entries,
                approvals=store.approvals,
                home=str(folder / "state"),
                pause=lambda _: paused(),
            ),
            profiles=store.profiles,
        )
    )
    keys = Keys(AdminKey(TOKEN), store.tokens, store.sessions, clock)
    await yard.begin()
    try:
        app = build(yard, keys=keys, hosts=[], closing=closing)
        async with client_of(app) as http:
            yield Machine(home, project, yard, http)
    finally:
        closing.set()
        await yard.close()
        await store.close()
