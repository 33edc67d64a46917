"""The operations on definitions that are not registered, and on mcpyard itself."""

from typing import Final

from mcpyard.api.events import STREAM
from mcpyard.api.journal import LONGEST_PAGE, PAGE
from mcpyard.api.openapi.builders import Json, body, header, operation, query, ref, response
from mcpyard.api.openapi.examples import CALL, DEFINITION, EVENTS, METRICS, PASTED, SERVER

_PARSED: Final[Json] = {
    "servers": [{"name": "files", "definition": DEFINITION, "warnings": []}],
    "problems": [],
}

_TRIED: Final[Json] = {
    "ok": True,
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "files", "version": "1"},
    "tools": [{"name": "read", "description": "Read a file."}],
    "warnings": [],
}

_SICK: Final[Json] = {
    "ok": False,
    "type": "urn:mcpyard:error:state-gone",
    "title": "State gone",
    "status": 507,
    "hint": "Put the home back, or stop mcpyard and start it again: mcpyard up",
}

_IMPORTED: Final[Json] = {
    "dryRun": False,
    "servers": [
        {
            "name": "files",
            "outcome": "imported",
            "server": SERVER,
            "problem": None,
            "warnings": [],
        }
    ],
    "problems": [],
}

WORKBENCH: Final[Json] = {
    "/api/mcp/parse": {
        "post": operation(
            "parseText",
            "Parse a text: JSON of any client, TOML or `mcp add` commands.",
            {200: response("The servers found, and the problems.", ref("Parsed"), _PARSED)},
            tags=["workbench"],
            requestBody=body(ref("Pasted"), {"json": {"text": PASTED}}),
        )
    },
    "/api/mcp/test": {
        "post": operation(
            "testDefinition",
            "Test a definition: start the server, list its tools, and stop it.",
            {200: response("It works.", ref("Trial"), _TRIED)},
            (502, 504),
            tags=["workbench"],
            requestBody=body(ref("Definition"), {"local": DEFINITION}),
        )
    },
    "/api/mcp/import": {
        "post": operation(
            "importText",
            "Import servers from a text or, without one, from the files of clients on this "
            "machine. Each server has its own outcome and stays stopped until you start it.",
            {200: response("The outcome of each server.", ref("Imported"), _IMPORTED)},
            (409, 507),
            tags=["workbench"],
            requestBody=body(
                ref("Import"), {"look": {"text": PASTED, "dryRun": True}, "machine": {}}
            ),
        )
    },
}

YARD: Final[Json] = {
    "/api/mcp/calls": {
        "get": operation(
            "listCalls",
            "List the last calls, newest first.",
            {200: response("A page.", ref("Calls"), {"calls": [CALL], "next": None})},
            (404, 422),
            tags=["yard"],
            parameters=[
                query("server", "Only calls of this server, by id or name.", {"type": "string"}),
                query(
                    "tool", "Only calls of this tool, by the server's own name.", {"type": "string"}
                ),
                query("outcome", "Only calls with this outcome.", {"type": "string"}),
                query("who", "Only calls by this caller, as in `who`.", {"type": "string"}),
                query(
                    "before",
                    "Only calls with a lower id: the `next` of the previous page.",
                    {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
                ),
                query(
                    "limit",
                    "The maximum number of calls.",
                    {"type": "integer", "minimum": 1, "maximum": LONGEST_PAGE, "default": PAGE},
                ),
            ],
        )
    },
    "/api/events": {
        "get": operation(
            "streamEvents",
            "Stream events as server-sent events.",
            {
                200: {
                    "description": "Begins with `hello` for a new client. `status`, `tools`, "
                    "`removed` and `documents` report changes; `backup` and `recovered` a "
                    "server whose calls go to a fallback server, and back; `profiles` a changed "
                    "profile; `calls` counters. After `resync`, read the whole state again. A "
                    "comment every 15 s keeps the connection alive.",
                    "content": {STREAM: {"schema": {"type": "string"}, "example": EVENTS}},
                }
            },
            (422, 429),
            tags=["yard"],
            parameters=[
                query("after", "The id of the last event received.", {"type": "string"}),
                header("Last-Event-ID", "The same, as browsers send it.", {"type": "string"}),
                query(
                    "ticket",
                    "A ticket of a browser, instead of its session key.",
                    {"type": "string"},
                ),
            ],
        )
    },
    "/api/openapi.json": {
        "get": operation(
            "getOpenapi",
            "The OpenAPI document.",
            {200: response("The document.", {"type": "object"})},
            tags=["yard"],
        )
    },
    "/healthz": {
        "get": {
            "operationId": "getHealth",
            "summary": "Report the health of mcpyard; with a token also the status of each server.",
            "tags": ["yard"],
            "security": [{}, {"bearer": []}],
            "responses": {
                "200": response("Healthy.", ref("Health"), {"ok": True}),
                "400": {"$ref": "#/components/responses/Problem400"},
                "403": {"$ref": "#/components/responses/Problem403"},
                "421": {"$ref": "#/components/responses/Problem421"},
                "507": response(
                    "The home is gone; mcpyard stores nothing.", ref("Sickness"), _SICK
                ),
            },
        }
    },
    "/metrics": {
        "get": operation(
            "getMetrics",
            "Metrics in the Prometheus format.",
            {
                200: {
                    "description": "Status, restarts, calls, errors, latency, bytes.",
                    "content": {"text/plain": {"schema": {"type": "string"}, "example": METRICS}},
                }
            },
            tags=["yard"],
        )
    },
}
