"""The paths of routes."""

from typing import Final
from urllib.parse import quote, urlencode

from mcpyard.client.problems import empty_name

SERVERS: Final = "/api/mcp/servers"


def server_path(name: str, *more: str) -> str:
    """The path of a server's route."""
    return "/".join([SERVERS, segment(name), *map(segment, more)])


def segment(text: str) -> str:
    """A name as a part of a path; without one the path would be that of another route."""
    if not text:
        raise empty_name()
    return quote(text, safe="")


def query(**members: str | None) -> str:
    """The members of a query that have a value, with the question mark."""
    present = {name: value for name, value in members.items() if value is not None}
    return f"?{urlencode(present)}" if present else ""
