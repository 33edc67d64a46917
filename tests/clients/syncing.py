"""Five servers in mcpyard, and four programs that are to have them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.sync import Sync
from mcpyard.yard.views.sync import SyncView
from tests.clients.machine import FILES, Machine, machine

PROGRAMS = ("claude", "codex", "gemini", "opencode")
ALL = SyncRequest(PROGRAMS)

SERVERS: dict[str, dict[str, object]] = {
    "files": {"command": "npx", "args": ["-y", "@acme/files", "/data"]},
    "docs": {
        "url": "https://docs.example/mcp",
        "headers": {"Authorization": "Bearer ${DOCS_TOKEN}"},
    },
    "git": {"command": "uvx", "args": ["mcp-git"], "env": {"LOG": "debug"}},
    "db": {"command": "db-server", "env": {"DB_URL": "${DB_URL}"}, "timeout": 30000},
    "mail": {"url": "https://mail.example/mcp"},
}

TEXTS = {
    "claude": '{\n  "numStartups": 7,\n  "theme": "dark"\n}\n',
    "codex": '# mine\nmodel = "o5"\n\n[mcp_servers.mine]   # by hand\ncommand = "hand"\n',
    "gemini": '{\n\t"ui": { "theme": "GitHub" },\n\t"mcpServers": {}\n}',
    "opencode": '{\n  // keep\n  "model": "x",\n}\n',
}


@asynccontextmanager
async def five_servers(folder: Path, **texts: str) -> AsyncGenerator[Machine]:
    """A machine with five servers in mcpyard."""
    async with machine(folder, **(TEXTS | texts)) as it:
        await it.yard.register_all(
            [
                {"name": name, "scope": "user", "start": False, **each}
                for name, each in SERVERS.items()
            ]
        )
        yield it


def sync_of(it: Machine) -> Sync:
    return it.yard.clients.sync


def terms(it: Machine) -> EditTerms:
    return EditTerms(str(it.project), who="test")


def states(view: SyncView, server: str | None = None) -> dict[str, str]:
    """The states of cells by target, of one server or of all: `files codex:user`."""
    return {
        each.target if server else f"{each.server} {each.target}": str(each.state)
        for each in view.cells
        if server in {None, each.server}
    }


def contents(it: Machine) -> dict[str, bytes | None]:
    """The bytes of every program's file."""
    paths = {client: it.path(client) for client in FILES}
    return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}
