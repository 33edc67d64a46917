"""Who listens where `up` was to listen: another yard, or a program that is none of ours."""

import contextlib
import http.client
import json
from typing import Final, cast

import psutil

from mcpyard.api.problems import TYPE_PREFIX
from mcpyard.cli.cli_errors import Complaint

_PATIENCE: Final = 2.0
_MOST: Final = 10_000


def in_the_way(host: str, port: int) -> Complaint:
    """A complaint about whoever listens there."""
    pid = _holder(port)
    who = f"yard (pid {pid})" if pid else "yard"
    where = f"port {port} of {host} is in use by"
    if _problem(host, port, "/healthz") == "state-gone":
        hint = f"end it first: kill {pid}" if pid else "end it first"
        return _complaint(f"{where} a {who} whose home is gone", hint)
    # Without a token any yard refuses this, in words that no other program has.
    other = who if _problem(host, port, "/api/mcp/servers") else "program"
    hint = "choose another with --port, or --port 0 for any free one"
    return _complaint(f"{where} another {other}", hint)


def _complaint(detail: str, hint: str) -> Complaint:
    return Complaint(detail, hint=hint, slug="port-in-use")


def _problem(host: str, port: int, path: str) -> str:
    """What a yard complains of at a path; nothing where it is content, or no yard."""
    connection = http.client.HTTPConnection(host, port, timeout=_PATIENCE)
    try:
        connection.request("GET", path)
        told = json.loads(connection.getresponse().read(_MOST))
    except (OSError, http.client.HTTPException, ValueError):
        return ""
    finally:
        connection.close()
    kind = cast("dict[str, object]", told).get("type") if isinstance(told, dict) else None
    _, ours, slug = str(kind).partition(TYPE_PREFIX)
    return slug if ours else ""


def _holder(port: int) -> int | None:
    """The process that listens on a port, where the system tells."""
    with contextlib.suppress(psutil.Error, OSError):
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port:
                return each.pid
    return None
