"""Which program listens on the port of `up`: another mcpyard, or something else."""

import contextlib
import http.client
import json
from typing import Final

import psutil

from mcpyard.api.problems import TYPE_PREFIX
from mcpyard.cli.cli_errors import CliError
from mcpyard.domain.narrowing import object_of

_TIMEOUT: Final = 2.0
_MOST: Final = 10_000


def port_in_use(host: str, port: int) -> CliError:
    """The error that names the program on the port."""
    pid = _holder(port)
    who = f"mcpyard (pid {pid})" if pid else "mcpyard"
    where = f"port {port} of {host} is in use by"
    if _problem(host, port, "/healthz") == "state-gone":
        hint = f"stop it first: kill {pid}" if pid else "stop it first"
        return _cli_error(f"{where} {who}, whose home was deleted", hint)
    # Without a token mcpyard refuses this with a problem type of its own.
    other = who if _problem(host, port, "/api/mcp/servers") else "program"
    hint = "use another port with --port, or --port 0 for any free one"
    return _cli_error(f"{where} another {other}", hint)


def _cli_error(detail: str, hint: str) -> CliError:
    return CliError(detail, hint=hint, slug="port-in-use")


def _problem(host: str, port: int, path: str) -> str:
    """The problem that mcpyard answers with; empty for success and other programs."""
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT)
    try:
        connection.request("GET", path)
        problem = json.loads(connection.getresponse().read(_MOST))
    except (OSError, http.client.HTTPException, ValueError):
        return ""
    finally:
        connection.close()
    kind = object_of(problem).get("type")
    _, ours, slug = str(kind).partition(TYPE_PREFIX)
    return slug if ours else ""


def _holder(port: int) -> int | None:
    """The process that listens on a port, where the system tells."""
    with contextlib.suppress(psutil.Error, OSError):
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port:
                return each.pid
    return None
