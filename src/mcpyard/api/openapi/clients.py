"""The operations on the servers of other clients."""

from typing import Final

from mcpyard.api.openapi.builders import (
    Json,
    array,
    body,
    maybe,
    members,
    named,
    operation,
    parameter,
    query,
    ref,
    response,
    text,
)
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.facts import EntryTransport

_FLAG: Final[Json] = {"type": "boolean"}
_TEXTS: Final = array(text())
_NUMBER: Final[Json] = {"type": "integer", "minimum": 1}
_TAGS: Final = ["clients"]
_PROJECT: Final = query(
    "project",
    "The project folder, an absolute path; default the project of mcpyard.",
    {"type": "string", "pattern": "^/"},
)
_SCOPE: Final = query("scope", "One of the client's scopes; default the first.", {"type": "string"})
_DRY: Final = query("dryRun", "Preview only.", _FLAG)

_PAIRS: Final = named({"anyOf": [text(), ref("Masked")]})
_FIELDS: Final[dict[str, Json]] = {
    "type": {"enum": [*EntryTransport]},
    "command": text(),
    "args": _TEXTS,
    "env": _PAIRS,
    "cwd": text(),
    "url": text(),
    "headers": _PAIRS,
    "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Milliseconds of a call."},
    "startTimeout": {
        "type": "number",
        "exclusiveMinimum": 0,
        "description": "Milliseconds of a start.",
    },
    "onlyTools": _TEXTS,
    "exceptTools": _TEXTS,
    "envVars": _TEXTS,
    "envHeaders": named(text()),
    "bearerTokenEnvVar": text(),
}
_KEPT: Final = named({"anyOf": [text(), {"type": "null"}, ref("Masked")]})
_CHANGED: Final = _FIELDS | {
    "env": _KEPT,
    "headers": _KEPT,
    "envHeaders": named(maybe(text())),
}

CLIENT_SCHEMAS: Final[Json] = {
    "ClientChange": {
        **members(
            {},
            {"name": text("Its new name."), "enabled": _FLAG}
            | {word: maybe(schema) for word, schema in _CHANGED.items()},
        ),
        "description": "A merge patch in words that are the same for every client.",
    },
    "Copy": members(
        {
            "from": text("A client, and a scope behind a colon: `claude`, `claude:project`."),
            "to": text("Likewise."),
            "name": text(),
        },
        {
            "newName": text("The name of the copy; default: the same."),
            "matrix": {"enum": [*Matrix]},
            "replace": _FLAG,
            "move": _FLAG,
            "dryRun": _FLAG,
            "project": text(pattern="^/"),
        },
    ),
    "Undo": members({}, {"id": _NUMBER, "dryRun": _FLAG}),
}

_PATH: Final = "/home/me/.codex/config.toml"
_SHOWN: Final[Json] = {
    "name": "files",
    "command": "npx",
    "args": ["files"],
    "url": None,
    "enabled": True,
    "effective": "enabled",
    "reason": "",
}
_HELD: Final[Json] = {"client": "codex", "title": "Codex", "scope": "user", "path": _PATH}
_SERVER: Final[Json] = {
    **dict.fromkeys(_FIELDS),
    **_HELD,
    **_SHOWN,
    "env": {"KEY": {"masked": True, "hint": ""}},
    "unknown": [],
    "where": None,
    "problems": [],
}
_DIFF: Final = f'--- {_PATH}\n+++ {_PATH}\n@@ -2,1 +2,1 @@\n-args = []\n+args = ["files"]\n'
_DONE: Final[Json] = {"files": [{"path": _PATH, "diff": _DIFF}], "warnings": [], "edit": 7}
_COPY: Final[Json] = {"from": "claude", "to": "codex", "name": "files"}
_EDIT: Final[Json] = {
    "id": 7,
    "at": "2026-11-15T12:00:00.000+00:00",
    "who": "rest",
    "kind": "copy",
    "paths": [_PATH],
    "servers": [],
    "undone": False,
}
_FOUND: Final[Json] = {
    "code": "secret-readable",
    "level": "warning",
    "client": "codex",
    "scope": "user",
    "name": "files",
    "place": {"file": _PATH, "line": 4, "column": 1},
    "message": "env.KEY holds a secret that every user can read",
    "hint": "chmod 600",
}
_DRIFTED: Final[Json] = {
    "name": "files",
    "variants": [
        {
            "in": [
                {"client": "codex", "scope": "user", "path": _PATH, "effective": "enabled"},
            ],
            "values": {"args": "files"},
        }
    ],
}

_CHANGES: Final = (404, 409, 412, 422, 507)

CLIENTS: Final[Json] = {
    "/api/clients": {
        "get": operation(
            "listClients",
            "List the scopes of every client and of mcpyard, with their servers and the effective "
            "state of each.",
            {
                200: response(
                    "By client.",
                    array(ref("ClientGroup")),
                    [{**_HELD, "exists": True, "servers": [_SHOWN], "problems": []}],
                )
            },
            (409, 422),
            tags=_TAGS,
            parameters=[_PROJECT],
        )
    },
    "/api/clients/copy": {
        "post": operation(
            "copyClientServer",
            "Copy a server from one client to another, or move it. Fields that the target does "
            "not support are dropped with a warning; `dryRun` writes nothing.",
            {200: response("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            requestBody=body(ref("Copy"), {"look": {**_COPY, "dryRun": True}, "copy": _COPY}),
        )
    },
    "/api/clients/undo": {
        "post": operation(
            "undoClientEdit",
            "Undo one of the last 100 edits; default the newest that is not undone. If two "
            "requests undo the same edit, the second gets a 404.",
            {200: response("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            requestBody=body(ref("Undo"), {"newest": {}, "one": {"id": 7}}),
        )
    },
    "/api/clients/edits": {
        "get": operation(
            "listClientEdits",
            "List the last edits, newest first.",
            {200: response("At most 100.", array(ref("Edit")), [_EDIT])},
            (409,),
            tags=_TAGS,
        )
    },
    "/api/clients/lint": {
        "get": operation(
            "lintClients",
            "Check the files of all clients against the rules of each client.",
            {200: response("What was found.", array(ref("Finding")), [_FOUND])},
            (409, 422),
            tags=_TAGS,
            parameters=[_PROJECT],
        )
    },
    "/api/clients/drift": {
        "get": operation(
            "compareClients",
            "List servers that are defined differently in several places.",
            {200: response("By name.", array(ref("Drift")), [_DRIFTED])},
            (409, 422),
            tags=_TAGS,
            parameters=[_PROJECT],
        )
    },
    "/api/clients/{client}/servers/{name}": {
        "parameters": [parameter("client"), parameter("name"), _SCOPE, _PROJECT],
        "get": operation(
            "showClientServer",
            "Show one server of a client, with all fields of its entry.",
            {200: response("The server.", ref("ClientServer"), _SERVER)},
            (404, 409, 422),
            tags=_TAGS,
        ),
        "patch": operation(
            "changeClientServer",
            "Change a server in the file of its client: one entry changes, the rest of the file "
            "stays untouched. `name` renames it, `enabled` enables or disables it.",
            {200: response("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            parameters=[_DRY],
            requestBody=body(ref("ClientChange"), {"off": {"enabled": False}}, patch=True),
        ),
        "delete": operation(
            "removeClientServer",
            "Remove a server from the file of its client.",
            {200: response("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            parameters=[_DRY],
        ),
    },
}
