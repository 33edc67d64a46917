"""What several commands print about servers."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from mcpyard.cli.output import clean

if TYPE_CHECKING:
    from mcpyard.cli.known_servers import KnownServers

Record = Mapping[str, object]

NO_SERVERS: Final = (
    "No servers yet. Add one: mcpyard add NAME -- COMMAND ARGS...",
    "Or import the servers of your other MCP clients: mcpyard import",
)


def print_raw(raw: bytes) -> int:
    """Print JSON exactly as mcpyard answered."""
    sys.stdout.buffer.write(raw + b"\n")
    return 0


def print_warnings(record: Record) -> None:
    """Print the warnings about a server's definition on standard error."""
    for each in cast("list[object]", record.get("warnings") or []):
        print(f"warning: {clean(str(each))}", file=sys.stderr)


def note_unused(project: Path | None) -> None:
    """Print that `--project` has no effect, since the running mcpyard answers."""
    if project:
        print("note: mcpyard is running and answers; --project is ignored", file=sys.stderr)


def read_definitions(home: Path, project: Path | None) -> "KnownServers":
    """The servers that are defined, with a note on standard error that none of them runs."""
    from mcpyard.cli.known_servers import find_known

    servers = find_known(home, project)
    print(f"note: mcpyard is not running (home: {home})", file=sys.stderr)
    for problem in servers.problems:
        print(f"problem: {clean(str(problem))}", file=sys.stderr)
    return servers
