"""The operations on servers and their tools, and on definitions that are not registered."""

from typing import Final

from mcpyard.api.events import STREAM
from mcpyard.api.openapi.builders import (
    Json,
    Operations,
    answer,
    array,
    body,
    header,
    many,
    nothing,
    one,
    operation,
    query,
    ref,
    shared,
    text,
)
from mcpyard.api.responses import JSON
from mcpyard.domain.interests import LEVELS

ONE: Final = "/api/mcp/servers/{ref}"

_TAG: Final = {"ETag": {"schema": text(), "description": "Identifies this state."}}
_SERVER: Final = one("Server", "The record.", headers=_TAG)
_TOOLS: Final = many("Tool", "The tools.")
_OUTCOME: Final = one(
    "Outcome", "The result of the tool. A tool error (`isError`) has status 200 too."
)
_IF_MATCH: Final = header(
    "If-Match", "The expected `digest` of the record, in quotes; 412 if it has changed."
)
_LINKS: Final[Json] = {
    name: {"operationId": name, "parameters": {"ref": "$response.body#/id"}}
    for name in (
        *("getServer", "changeServer", "removeServer", "startServer", "stopServer"),
        *("restartServer", "revealServer", "getServerTools", "getServerLogs"),
    )
}


def _step(summary: str) -> Json:
    return operation(summary, _SERVER, 404, 409, 422, 507)


SERVERS: Final[Operations] = {
    "GET /api/mcp/servers listServers": operation(
        "List all servers, sorted by name.",
        many("Server", "The records.", headers=_TAG)
        | nothing("The list has not changed since `If-None-Match`.", 304),
        parameters=[
            query("tools", "`0` omits the tools.", type="boolean", default=True),
            header("If-None-Match", "The ETag of a previous response."),
        ],
    ),
    "POST /api/mcp/servers registerServer": operation(
        "Add a server: to the project's `.mcp.json` if mcpyard runs with a project, else "
        "to the user scope.",
        one(
            "Server",
            "The record of the new server.",
            201,
            headers={**_TAG, "Location": {"schema": text()}},
            links=_LINKS,
        ),
        *(409, 412, 507),
        parameters=shared("wait"),
        requestBody=body("Registration"),
    ),
    f"GET {ONE} getServer": operation("Show one server.", _SERVER, 404),
    f"PATCH {ONE} changeServer": operation(
        "Change a server. A change of a launch field restarts a running server; any other "
        "change applies to the current connection.",
        _SERVER,
        *(404, 409, 412, 507),
        parameters=[
            *shared("wait"),
            _IF_MATCH,
            query(
                "when_running",
                "What to do with a change that would restart a running server.",
                enum=["restart", "refuse"],
                default="restart",
            ),
        ],
        requestBody=body("Change", patch=True),
    ),
    f"DELETE {ONE} removeServer": operation(
        "Stop a server if it runs, and remove its definition.",
        nothing("The server was removed."),
        *(404, 409, 412, 422, 507),
    ),
    f"POST {ONE}/start startServer": _step("Start a server. Does nothing if it runs."),
    f"POST {ONE}/stop stopServer": _step("Stop a server."),
    f"POST {ONE}/restart restartServer": _step("Restart a server."),
    **{f"{ONE}/{step}": shared("wait") for step in ("start", "stop", "restart")},
    f"POST {ONE}/reveal revealServer": operation(
        "Show the literal values of a server's variables or headers.",
        one("Revealed", "The values."),
        404,
    ),
    f"GET {ONE}/logs getServerLogs": operation(
        "Show the last lines of a server's standard error, and its last log messages.",
        answer(
            "The lines; with `follow` a stream of `line` events.",
            {JSON: {"schema": array(ref("LogLine"))}, STREAM: {"schema": text()}},
        ),
        *(404, 422),
        parameters=[
            query(
                "follow",
                "`1` keeps the response open and streams new lines.",
                type="boolean",
                default=False,
            ),
            query(
                "source",
                "`stderr` for standard error alone, `mcp` for log messages alone.",
                enum=["all", "stderr", "mcp"],
                default="all",
            ),
            query("level", "The least level of log messages.", enum=[*LEVELS], default=LEVELS[0]),
        ],
    ),
}

TOOLS: Final[Operations] = {
    "GET /api/mcp/tools listTools": operation("List all tools that can be called.", _TOOLS),
    "POST /api/mcp/tools/{exposed}/call callTool": operation(
        "Call a tool by its exposed name.",
        _OUTCOME,
        *(404, 429, 502, 503, 504),
        requestBody=body("Asked", required=False),
    ),
    f"GET {ONE}/tools getServerTools": operation(
        "List the tools of one server, including disabled ones.", _TOOLS, 404
    ),
    f"PATCH {ONE}/tools/{{tool}} changeTool": operation(
        "Enable, disable, rename or describe a tool, or set its timeout. `null` restores "
        "the default.",
        one("Tool", "The tool."),
        *(404, 409, 412, 507),
        parameters=[_IF_MATCH],
        requestBody=body("ToolPolicy", patch=True),
    ),
    f"POST {ONE}/tools/{{tool}}/call callServerTool": operation(
        "Call a tool of one server by the server's own name for it.",
        _OUTCOME,
        *(404, 429, 502, 503, 504),
        requestBody=body("Asked", required=False),
    ),
}

WORKBENCH: Final[Operations] = {
    "POST /api/mcp/parse parseText": operation(
        "Parse a text: JSON of any client, TOML or `mcp add` commands.",
        one("Parsed", "The servers found, and the problems."),
        requestBody=body("Pasted"),
    ),
    "POST /api/mcp/test testDefinition": operation(
        "Test a definition: start the server, list its tools, and stop it.",
        one("Trial", "It works."),
        *(502, 504),
        requestBody=body("Definition"),
    ),
    "POST /api/mcp/import importText": operation(
        "Import servers from a text or, without one, from the files of clients on this "
        "machine. Each server has its own outcome and stays stopped until you start it.",
        one("Imported", "The outcome of each server."),
        *(409, 507),
        requestBody=body("Import"),
    ),
}
