"""The operations on what is not registered yet, and those that tell how the yard is."""

from typing import Final

from mcpyard.api.events import STREAM
from mcpyard.api.journal import LONGEST_PAGE, PAGE
from mcpyard.api.openapi.examples import CALL, DEFINITION, EVENTS, METRICS, PASTED, SERVER
from mcpyard.api.openapi.words import Json, body, header, operation, query, ref, told

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
    "hint": "Restore the home folder, or restart mcpyard: mcpyard up",
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
            "Read a pasted text: JSON of any program, TOML, `mcp add` commands.",
            {200: told("What it holds, and what cannot be used.", ref("Parsed"), _PARSED)},
            tags=["workbench"],
            requestBody=body(ref("Pasted"), {"json": {"text": PASTED}}),
        )
    },
    "/api/mcp/test": {
        "post": operation(
            "testDefinition",
            "Open a server that is not registered, list its tools, and end it again.",
            {200: told("It works.", ref("Trial"), _TRIED)},
            (502, 504),
            tags=["workbench"],
            requestBody=body(ref("Definition"), {"local": DEFINITION}),
        )
    },
    "/api/mcp/import": {
        "post": operation(
            "importText",
            "Register what a pasted text holds or, without one, what is found on this machine. "
            "Each server has its own outcome, and waits, stopped, until somebody starts it.",
            {200: told("What became of each.", ref("Imported"), _IMPORTED)},
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
            "The last calls, newest first.",
            {200: told("A page.", ref("Calls"), {"calls": [CALL], "next": None})},
            (404, 422),
            tags=["yard"],
            parameters=[
                query("server", "Of this server, by id or name.", {"type": "string"}),
                query("tool", "Of this tool, by the server's own name.", {"type": "string"}),
                query("outcome", "With this outcome.", {"type": "string"}),
                query("who", "By this caller, as the calls name it.", {"type": "string"}),
                query(
                    "before",
                    "With a lower id than this: `next` of the page before.",
                    {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
                ),
                query(
                    "limit",
                    "How many at most.",
                    {"type": "integer", "minimum": 1, "maximum": LONGEST_PAGE, "default": PAGE},
                ),
            ],
        )
    },
    "/api/events": {
        "get": operation(
            "streamEvents",
            "Events as server-sent events, until mcpyard or the client ends the stream.",
            {
                200: {
                    "description": "Begins with `hello` for a new reader. `status`, `tools`, "
                    "`removed` and `documents` tell of changes; `backup` and `recovered` of a "
                    "server whose calls go to a fallback, and back; `profiles` of a selection for "
                    "the gateway; `calls` of counters; after `resync` fetch everything again. A "
                    "comment every 15 s is a sign of life.",
                    "content": {STREAM: {"schema": {"type": "string"}, "example": EVENTS}},
                }
            },
            (422,),
            tags=["yard"],
            parameters=[
                query("after", "The id of the last event one has.", {"type": "string"}),
                header("Last-Event-ID", "The same; browsers send it.", {"type": "string"}),
                query("ticket", "A browser's, in place of its key.", {"type": "string"}),
            ],
        )
    },
    "/api/openapi.json": {
        "get": operation(
            "getOpenapi",
            "This document.",
            {200: told("The document.", {"type": "object"})},
            tags=["yard"],
        )
    },
    "/healthz": {
        "get": {
            "operationId": "getHealth",
            "summary": "Health of mcpyard; with the token also the status of each server.",
            "tags": ["yard"],
            "security": [{}, {"bearer": []}],
            "responses": {
                "200": told("It answers.", ref("Health"), {"ok": True}),
                "400": {"$ref": "#/components/responses/Problem400"},
                "403": {"$ref": "#/components/responses/Problem403"},
                "421": {"$ref": "#/components/responses/Problem421"},
                "507": told("Its home is gone; it stores nothing.", ref("Sickness"), _SICK),
            },
        }
    },
    "/metrics": {
        "get": operation(
            "getMetrics",
            "The figures of every server, for Prometheus.",
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
