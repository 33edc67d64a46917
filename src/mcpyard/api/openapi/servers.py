"""The operations on servers and their tools."""

from typing import Final

from mcpyard.api.events import STREAM
from mcpyard.api.openapi.builders import (
    Json,
    array,
    body,
    header,
    operation,
    parameter,
    query,
    ref,
    response,
)
from mcpyard.api.openapi.examples import OUTCOME, PATCH, REGISTRATION, SERVER, TOOL

ONE: Final = "/api/mcp/servers/{ref}"

_TAG: Final = {"ETag": {"schema": {"type": "string"}, "description": "Identifies this state."}}
_SERVER: Final = response("The record.", ref("Server"), SERVER, headers=_TAG)
_TOOLS: Final = response("The tools.", array(ref("Tool")), [TOOL])
_OUTCOME: Final = response(
    "The result of the tool. A tool error (`isError`) has status 200 too.",
    ref("Outcome"),
    OUTCOME,
)
_ASKED: Final = body(ref("Asked"), {"echo": {"arguments": {"text": "hi"}, "timeoutMs": 5000}})

_REF: Final = parameter("ref")
_TOOL: Final = parameter("tool")
_WAIT: Final = parameter("wait")
_IF_MATCH: Final = header(
    "If-Match",
    "The expected `digest` of the record, in quotes; 412 if it has changed.",
    {"type": "string"},
)

_LINKS: Final[Json] = {
    name: {"operationId": name, "parameters": {"ref": "$response.body#/id"}}
    for name in (
        "getServer",
        "changeServer",
        "removeServer",
        "startServer",
        "stopServer",
        "restartServer",
        "revealServer",
        "getServerTools",
        "getServerLogs",
    )
}


def _step(identity: str, summary: str) -> Json:
    described = operation(identity, summary, {200: _SERVER}, (404, 409, 422, 507))
    return {"post": {**described, "tags": ["servers"]}, "parameters": [_REF, _WAIT]}


SERVERS: Final[Json] = {
    "/api/mcp/servers": {
        "get": operation(
            "listServers",
            "List all servers, sorted by name.",
            {
                200: response("The records.", array(ref("Server")), [SERVER], headers=_TAG),
                304: {"description": "The list has not changed since `If-None-Match`."},
            },
            tags=["servers"],
            parameters=[
                query("tools", "`0` omits the tools.", {"type": "boolean", "default": True}),
                header("If-None-Match", "The ETag of a previous response.", {"type": "string"}),
            ],
        ),
        "post": operation(
            "registerServer",
            "Add a server: to the project's `.mcp.json` if mcpyard runs with a project, else "
            "to the user scope.",
            {
                201: response(
                    "The record of the new server.",
                    ref("Server"),
                    SERVER,
                    headers={**_TAG, "Location": {"schema": {"type": "string"}}},
                    links=_LINKS,
                )
            },
            (409, 412, 507),
            tags=["servers"],
            parameters=[_WAIT],
            requestBody=body(ref("Registration"), REGISTRATION),
        ),
    },
    ONE: {
        "parameters": [_REF],
        "get": operation("getServer", "Show one server.", {200: _SERVER}, (404,), tags=["servers"]),
        "patch": operation(
            "changeServer",
            "Change a server. A change of a launch field restarts a running server; any other "
            "change applies to the current connection.",
            {200: _SERVER},
            (404, 409, 412, 507),
            tags=["servers"],
            parameters=[
                _WAIT,
                _IF_MATCH,
                query(
                    "when_running",
                    "What to do with a change that would restart a running server.",
                    {"type": "string", "enum": ["restart", "refuse"], "default": "restart"},
                ),
            ],
            requestBody=body(ref("Change"), PATCH, patch=True),
        ),
        "delete": operation(
            "removeServer",
            "Stop a server if it runs, and remove its definition.",
            {204: {"description": "The server was removed."}},
            (404, 409, 412, 422, 507),
            tags=["servers"],
        ),
    },
    f"{ONE}/start": _step("startServer", "Start a server. Does nothing if it runs."),
    f"{ONE}/stop": _step("stopServer", "Stop a server."),
    f"{ONE}/restart": _step("restartServer", "Restart a server."),
    f"{ONE}/reveal": {
        "parameters": [_REF],
        "post": operation(
            "revealServer",
            "Show the literal values of a server's variables or headers.",
            {200: response("The values.", ref("Revealed"), {"env": {"API_KEY": "a-secret"}})},
            (404,),
            tags=["servers"],
        ),
    },
    f"{ONE}/logs": {
        "parameters": [_REF],
        "get": operation(
            "getServerLogs",
            "Show the last lines of a server's standard error.",
            {
                200: {
                    "description": "The lines; with `follow` a stream of `line` events.",
                    "content": {
                        "application/json": {"schema": array(ref("LogLine"))},
                        STREAM: {"schema": {"type": "string"}},
                    },
                }
            },
            (404,),
            tags=["servers"],
            parameters=[
                query(
                    "follow",
                    "`1` keeps the response open and streams new lines.",
                    {"type": "boolean", "default": False},
                )
            ],
        ),
    },
}

TOOLS: Final[Json] = {
    "/api/mcp/tools": {
        "get": operation(
            "listTools", "List all tools that can be called.", {200: _TOOLS}, tags=["tools"]
        )
    },
    "/api/mcp/tools/{exposed}/call": {
        "parameters": [parameter("exposed")],
        "post": operation(
            "callTool",
            "Call a tool by its exposed name.",
            {200: _OUTCOME},
            (404, 429, 502, 504),
            tags=["tools"],
            requestBody=_ASKED | {"required": False},
        ),
    },
    f"{ONE}/tools": {
        "parameters": [_REF],
        "get": operation(
            "getServerTools",
            "List the tools of one server, including disabled ones.",
            {200: _TOOLS},
            (404,),
            tags=["tools"],
        ),
    },
    f"{ONE}/tools/{{tool}}": {
        "parameters": [_REF, _TOOL],
        "patch": operation(
            "changeTool",
            "Enable, disable, rename or describe a tool, or set its timeout. `null` restores the "
            "default.",
            {200: response("The tool.", ref("Tool"), TOOL)},
            (404, 409, 412, 507),
            tags=["tools"],
            parameters=[_IF_MATCH],
            requestBody=body(ref("ToolPolicy"), {"off": {"enabled": False}}, patch=True),
        ),
    },
    f"{ONE}/tools/{{tool}}/call": {
        "parameters": [_REF, _TOOL],
        "post": operation(
            "callServerTool",
            "Call a tool of one server by the server's own name for it.",
            {200: _OUTCOME},
            (404, 429, 502, 504),
            tags=["tools"],
            requestBody=_ASKED | {"required": False},
        ),
    },
}
