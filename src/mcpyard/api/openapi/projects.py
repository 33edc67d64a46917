"""The operations on project approval."""

from typing import Final

from mcpyard.api.openapi.builders import (
    Json,
    array,
    body,
    operation,
    query,
    ref,
    response,
    text,
)

_DIGEST: Final = "0f6c2b8a9d3e4f5061728394a5b6c7d8"
_FOLDER: Final = "/home/me/project"
_WAITING: Final[Json] = {
    "folder": _FOLDER,
    "digest": _DIGEST,
    "servers": [
        {
            "name": "tickets",
            "kind": "changed",
            "replaces": None,
            "fields": [
                {"field": "url", "value": "https://tickets.example/mcp", "marked": False},
                {
                    "field": "headers.Authorization",
                    "value": "Bearer ${TICKETS_TOKEN}",
                    "marked": False,
                },
            ],
            "variables": [
                {
                    "name": "TICKETS_TOKEN",
                    "field": "headers.Authorization",
                    "host": "tickets.example",
                }
            ],
            "changes": [
                {
                    "field": "url",
                    "before": "https://old.example/mcp",
                    "after": "https://tickets.example/mcp",
                }
            ],
        }
    ],
}

PROJECT_SCHEMAS: Final[Json] = {
    "Approval": {
        "type": "object",
        "properties": {
            "folder": text("An absolute path."),
            "digest": text("That of what was shown."),
            "replace": array(text("An entry that may replace a server of another scope.")),
        },
        "required": ["folder", "digest"],
    },
}

PROJECTS: Final[Json] = {
    "/api/projects/waiting": {
        "get": operation(
            "listWaiting",
            "List the entries of project files that need approval, with everything they would run.",
            {200: response("The folders.", array(ref("WaitingFolder")), [_WAITING])},
            (422,),
            tags=["doors"],
            parameters=[
                query("folder", "Only this folder, even if mcpyard does not run with it.", text())
            ],
        )
    },
    "/api/projects/approve": {
        "post": operation(
            "approveProject",
            "Approve the shown entries of a folder's `.mcp.json` and start their servers.",
            {
                200: response(
                    "What was approved.",
                    ref("Approved"),
                    {"folder": _FOLDER, "servers": ["tickets"], "waiting": []},
                )
            },
            (409, 507),
            tags=["doors"],
            requestBody=body(
                ref("Approval"),
                {
                    "shown": {"folder": _FOLDER, "digest": _DIGEST},
                    "replacing": {"folder": _FOLDER, "digest": _DIGEST, "replace": ["tickets"]},
                },
            ),
        )
    },
}
