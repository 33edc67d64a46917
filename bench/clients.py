"""How long it takes to list all clients of a machine whose `~/.claude.json` has 5 MB.

Held against one reading of that file by the C decoder. Run with `python -m bench.clients`; it ends
with 1 if a listing is slower than its limit.
"""

import asyncio
import json
import os
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter

from bench.jsonc import RUNS, best_of, claude_like
from bench.measuring import Figures
from mcpyard.app import open_yard
from mcpyard.formats.editing import write
from mcpyard.formats.effective import Text, files_of, judge
from mcpyard.formats.entries import Entry
from mcpyard.formats.lint import lint
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates
from mcpyard.formats.registry import CLIENTS

LIMIT = 5.0
SERVERS = 10


def main() -> None:
    """Build the machine in a folder of its own, and list it."""
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        home, big = machine(Path(folder))
        host = ClientFolders({}, str(home), str(home / "work"))
        text = big.read_text()
        files = sum(each.is_file() for each in home.rglob("*"))
        figures.show("~/.claude.json", f"{len(text) / 1e6:.1f} MB")
        figures.show("files and servers in all", f"{files}, {listing(host)}")
        loads, *times = best_of(
            partial(json.loads, text), partial(listing, host), partial(linting, host)
        )
        first, again = min(asyncio.run(by_yard(host)) for _ in range(RUNS))
        figures.show("json.loads of the large one", f"{loads * 1e3:.1f} ms")
        names = ("reading and judging all clients", "reading and checking all clients")
        for name, took in zip(names, times, strict=True):
            figures.show(name, f"{took * 1e3:.1f} ms, {took / loads:.2f}x")
        figures.at_most("the yard's listing, in readings", first / loads, LIMIT, "x")
        figures.show("the same again", f"{again * 1e3:.1f} ms, {again / loads:.2f}x")
    figures.leave()


async def by_yard(host: ClientFolders) -> tuple[float, float]:
    """How long a new yard takes for its first listing, and for the same again."""
    environment = {"HOME": host.home, "PATH": os.environ["PATH"]}
    async with open_yard(host.project, environment=environment) as yard:
        times: list[float] = []
        for _ in range(2):
            began = perf_counter()
            await yard.clients.groups()
            times.append(perf_counter() - began)
    return times[0], times[1]


def machine(home: Path) -> tuple[Path, Path]:
    """A home with a file of each client, and its largest file."""
    big = claude_like()
    project = str(home / "work")
    big["projects"][project] = {
        "hasTrustDialogAccepted": True,
        "mcpServers": servers(),
        "disabledMcpServers": ["server-1"],
    }
    own = home / ".claude.json"
    own.write_text(json.dumps(big, indent=2, ensure_ascii=False))
    host = ClientFolders({}, str(home), project)
    Path(project).mkdir()
    for client in CLIENTS:
        ref = ClientScopeRef(client, client.scopes[0], project)
        path = Path(candidates(ref.scope.location, host)[0]) if ref.scope.location else own
        if path != own:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content(ref))
    return home, own


def content(ref: ClientScopeRef) -> str:
    """A client's file with some servers."""
    text = ""
    for number in range(SERVERS):
        entry = Entry(command="npx", args=("-y", "@example/server"), env={"MODE": "fast"})
        text = write(ref, text, f"server-{number}", entry).text
    return text


def servers() -> dict[str, object]:
    """As many servers in the words of the first client."""
    entry = {"command": "npx", "args": ["-y", "@example/server"]}
    return {f"server-{number}": entry for number in range(SERVERS)}


def listing(host: ClientFolders) -> int:
    """Read and judge all clients; how many servers there are."""
    texts = read(host)
    return sum(len(judge(client, host, texts).statuses) for client in CLIENTS)


def linting(host: ClientFolders) -> int:
    """Read and check all clients; how many findings there are."""
    texts = read(host)
    return sum(len(lint(client, host, texts)) for client in CLIENTS)


def read(host: ClientFolders) -> dict[str, Text]:
    """All files of all clients, each read once."""
    paths = dict.fromkeys(path for client in CLIENTS for path in files_of(client, host))
    return {path: Text(path, text_of(Path(path)), mode=0o600) for path in paths}


def text_of(path: Path) -> str | None:
    """What a file holds, where there is one."""
    return path.read_bytes().decode() if path.is_file() else None


if __name__ == "__main__":
    main()
