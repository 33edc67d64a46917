"""The parts of uvicorn that are not its public interface and that our subclasses rely on.

They may change with any minor version, so `pyproject.toml` allows only the one they were written
for, and a test compares these tables with the installed uvicorn. To go to another minor version,
read what changed in these classes, then adapt the subclasses, the tables and the two pins.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from uvicorn._types import ASGI3Application
from uvicorn.config import Config
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT, FlowControl
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from uvicorn.server import Server

WRITTEN_FOR: Final = "0.54"
"""The minor version."""


class UvicornApps(Protocol):
    """What uvicorn does not say the types of."""

    app: ASGI3Application
    config: "UvicornConfig"


class UvicornConfig(Protocol):
    """The same, of its configuration."""

    app: ASGI3Application


METHODS: Final[Mapping[type, Mapping[str, str]]] = {
    HttpToolsProtocol: {
        "_start_asgi_task": "self, cycle, app",
        "_unset_keepalive_if_required": "self",
        "_unsupported_upgrade_warning": "self",
        "connection_lost": "self, exc",
        "connection_made": "self, transport",
        "data_received": "self, data",
        "on_body": "self, body",
        "on_header": "self, name, value",
        "on_headers_complete": "self",
        "on_message_begin": "self",
        "on_message_complete": "self",
        "on_response_complete": "self",
        "on_url": "self, url",
        "pause_writing": "self",
        "resume_writing": "self",
        "send_400_response": "self, msg",
        "shutdown": "self",
        "timeout_keep_alive_handler": "self",
    },
    RequestResponseCycle: {
        "receive": "self",
        "run_asgi": "self, app",
        "send": "self, message",
        "send_500_response": "self",
    },
    FlowControl: {
        "drain": "self",
        "pause_reading": "self",
        "resume_reading": "self",
    },
    Server: {
        "capture_signals": "self",
        "main_loop": "self",
        "startup": "self, sockets",
    },
}
"""The methods that are called or overridden, with the names of their parameters."""

ATTRIBUTES: Final[Mapping[type, frozenset[str]]] = {
    HttpToolsProtocol: frozenset(
        {
            *("app", "client", "config", "connections", "cycle", "expect_100_continue", "flow"),
            *("headers", "logger", "loop", "parser", "pipeline", "scheme", "server"),
            *("server_state", "tasks", "timeout_keep_alive", "timeout_keep_alive_task"),
            *("transport", "url"),
        }
    ),
    RequestResponseCycle: frozenset(
        {
            *("access_log", "access_logger", "body", "chunked_encoding", "default_headers"),
            *("disconnected", "expected_content_length", "flow", "keep_alive", "logger"),
            *("message_event", "more_body", "on_response", "response_complete"),
            *("response_started", "scope", "transport", "waiting_for_100_continue"),
        }
    ),
    FlowControl: frozenset({"write_paused"}),
    Server: frozenset({"force_exit", "should_exit"}),
}
"""The attributes that are used; of a cycle all of them, since ours has its own constructor."""

__all__ = [
    "ATTRIBUTES",
    "HIGH_WATER_LIMIT",
    "METHODS",
    "STATUS_LINE",
    "WRITTEN_FOR",
    "ASGI3Application",
    "Config",
    "FlowControl",
    "HttpToolsProtocol",
    "RequestResponseCycle",
    "Server",
    "UvicornApps",
    "UvicornConfig",
]
