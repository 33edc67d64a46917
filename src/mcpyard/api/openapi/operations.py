"""The operations on servers and their tools."""

from typing import Final

from mcpyard.api.events import STREAM
from mcpyard.api.openapi.examples import OUTCOME, PATCH, REGISTRATION, SERVER, TOOL
from mcpyard.api.openapi.words import (
    Json,
    array,
    body,
    header,
    operation,
    parameter,
    query,
    ref,
    told,
)

ONE: Final = "/api/mcp/servers/{ref}"

_TAG: Final = {"ETag": {"schema": {"type": "string"}, "description": "Names this state."}}
_SERVER: Final = told("The record.", ref("Server"), SERVER, headers=_TAG)
_TOOLS: Final = told("The tools.", array(ref("Tool")), [TOOL])
_OUTCOME: Final = told(
    "What the tool answered. A tool that says error (`isError`) is answered with 200 too.",
    ref("Outcome"),
    OUTCOME,
)
_ASKED: Final = body(ref("Asked"), {"echo": {"arguments": {"text": "hi"}, "timeoutMs": 5000}})

_REF: Final = parameter("ref")
_TOOL: Final = parameter("tool")
_WAIT: Final = parameter("wait")
_IF_MATCH: Final = header(
    "If-Match",
    "The `digest` of the record that is meant, in quotes; 412 when it is another by now.",
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
            "Every server, by name.",
            {
                200: told("The records.", array(ref("Server")), [SERVER], headers=_TAG),
                304: {"description": "The list is the one that `If-None-Match` names."},
            },
            tags=["servers"],
            parameters=[
                query("tools", "`0` leaves the tools out.", {"type": "boolean", "default": True}),
                header("If-None-Match", "The tag of the list one has.", {"type": "string"}),
            ],
        ),
        "post": operation(
            "registerServer",
            "Register a server: in the project's `.mcp.json` if a project is open, else "
            "in the user's own scope.",
            {
                201: told(
                    "The whole record of the new server.",
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
        "get": operation("getServer", "One server.", {200: _SERVER}, (404,), tags=["servers"]),
        "patch": operation(
            "changeServer",
            "Change a server. A change of how it is launched restarts it if it runs; any other "
            "is applied to the open connection.",
            {200: _SERVER},
            (404, 409, 412, 507),
            tags=["servers"],
            parameters=[
                _WAIT,
                _IF_MATCH,
                query(
                    "when_running",
                    "What becomes of a change that would restart a running server.",
                    {"type": "string", "enum": ["restart", "refuse"], "default": "restart"},
                ),
            ],
            requestBody=body(ref("Change"), PATCH, patch=True),
        ),
        "delete": operation(
            "removeServer",
            "Stop a server if it runs, and take it out of where its definition lives.",
            {204: {"description": "It is gone."}},
            (404, 409, 412, 422, 507),
            tags=["servers"],
        ),
    },
    f"{ONE}/start": _step("startServer", "Want a server to run. One that runs is left alone."),
    f"{ONE}/stop": _step("stopServer", "Want a server to be stopped."),
    f"{ONE}/restart": _step("restartServer", "Stop a server and start it again."),
    f"{ONE}/reveal": {
        "parameters": [_REF],
        "post": operation(
            "revealServer",
            "The literal values of a server's variables or headers.",
            {200: told("The values.", ref("Revealed"), {"env": {"API_KEY": "a-secret"}})},
            (404,),
            tags=["servers"],
        ),
    },
    f"{ONE}/logs": {
        "parameters": [_REF],
        "get": operation(
            "getServerLogs",
            "The last lines a server wrote to its standard error.",
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
                    "`1` keeps the answer open and tells every further line.",
                    {"type": "boolean", "default": False},
                )
            ],
        ),
    },
}

TOOLS: Final[Json] = {
    "/api/mcp/tools": {
        "get": operation(
            "listTools", "Every tool that can be called now.", {200: _TOOLS}, tags=["tools"]
        )
    },
    "/api/mcp/tools/{exposed}/call": {
        "parameters": [parameter("exposed")],
        "post": operation(
            "callTool",
            "Call a tool by the name that agents know it by.",
            {200: _OUTCOME},
            (404, 502, 504),
            tags=["tools"],
            requestBody=_ASKED | {"required": False},
        ),
    },
    f"{ONE}/tools": {
        "parameters": [_REF],
        "get": operation(
            "getServerTools",
            "The tools of one server, also those that are switched off.",
            {200: _TOOLS},
            (404,),
            tags=["tools"],
        ),
    },
    f"{ONE}/tools/{{tool}}": {
        "parameters": [_REF, _TOOL],
        "patch": operation(
            "changeTool",
            "Switch a tool on or off, rename or describe it, give it a time limit. `null` goes "
            "back to what the server says.",
            {200: told("The tool.", ref("Tool"), TOOL)},
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
            "Call a server's tool by the server's own name of it.",
            {200: _OUTCOME},
            (404, 502, 504),
            tags=["tools"],
            requestBody=_ASKED | {"required": False},
        ),
    },
}
