"""The operations on the servers of other programs."""

from typing import Final

from mcpyard.api.openapi.words import (
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
    text,
    told,
)
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.facts import Effective, EntryTransport
from mcpyard.formats.finding import Level
from mcpyard.formats.warnings import WarningKind

_FLAG: Final[Json] = {"type": "boolean"}
_TEXTS: Final = array(text())
_NUMBER: Final[Json] = {"type": "integer", "minimum": 1}
_TAGS: Final = ["clients"]
_PROJECT: Final = query(
    "project",
    "The project folder, an absolute path; the default is mcpyard's own project.",
    {"type": "string", "pattern": "^/"},
)
_SCOPE: Final = query(
    "scope", "One of the client's scopes; its first unless told.", {"type": "string"}
)
_DRY: Final = query("dryRun", "Only tell what would be.", _FLAG)

_BRIEF: Final[dict[str, Json]] = {
    "name": text(),
    "command": maybe(text()),
    "args": maybe(_TEXTS),
    "url": maybe(text()),
    "enabled": {"type": "boolean", "description": "Whether it is switched on."},
    "effective": {
        "enum": [*Effective],
        "description": "What becomes of it in its program.",
    },
    "reason": text("Why."),
}
_HOLDER: Final[dict[str, Json]] = {
    "client": text(),
    "title": text(),
    "scope": text(),
    "path": text("Its file; `yard:user` means the servers that mcpyard stores itself."),
}
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
    "ClientGroup": members(
        {
            **_HOLDER,
            "exists": _FLAG,
            "servers": array(members(_BRIEF)),
            "problems": array(ref("PlacedProblem")),
        }
    ),
    "ClientServer": members(
        {
            **_HOLDER,
            **_BRIEF,
            **{word: maybe(schema) for word, schema in _FIELDS.items()},
            "unknown": array(text("A field that is not known of its program.")),
            "where": maybe(ref("Place")),
            "problems": array(ref("PlacedProblem")),
        }
    ),
    "ClientChange": {
        **members(
            {},
            {"name": text("Its new name."), "enabled": _FLAG}
            | {word: maybe(schema) for word, schema in _CHANGED.items()},
        ),
        "description": "A merge patch in words that are the same for every client.",
    },
    "Place": members({"file": text(), "line": {"type": "integer"}, "column": {"type": "integer"}}),
    "PlacedProblem": members({"field": text(), "message": text(), "place": maybe(ref("Place"))}),
    "FileDiff": members({"path": text(), "diff": text("Unified, with secrets masked.")}),
    "Warned": members({"kind": {"enum": [*WarningKind]}, "field": text(), "message": text()}),
    "Done": members(
        {
            "files": array(ref("FileDiff")),
            "warnings": array(ref("Warned")),
            "edit": {**maybe(_NUMBER), "description": "The number to undo it by."},
        },
        {"removes": array(text("A server that the undo removes from mcpyard."))},
    ),
    "Copy": members(
        {
            "from": text("A client, and a scope behind a colon: `claude`, `claude:project`."),
            "to": text("Likewise."),
            "name": text(),
        },
        {
            "newName": text("What the copy is called; the same unless told."),
            "matrix": {"enum": [*Matrix]},
            "replace": _FLAG,
            "move": _FLAG,
            "dryRun": _FLAG,
            "project": text(pattern="^/"),
        },
    ),
    "Undo": members({}, {"id": _NUMBER, "dryRun": _FLAG}),
    "Edit": members(
        {
            "id": _NUMBER,
            "at": text(format="date-time"),
            "who": text(),
            "kind": text(),
            "paths": _TEXTS,
            "servers": array(text("A server that it concerns.")),
            "undone": _FLAG,
        }
    ),
    "Finding": members(
        {
            "code": text("The rule."),
            "level": {"enum": [*Level]},
            "client": text(),
            "scope": text(),
            "name": text(),
            "place": maybe(ref("Place")),
            "message": text(),
            "hint": text(),
        }
    ),
    "Drift": members(
        {
            "name": text(),
            "variants": array(
                members(
                    {
                        "in": array(
                            members(
                                {
                                    "client": text(),
                                    "scope": text(),
                                    "path": text(),
                                    "effective": {"enum": [*Effective]},
                                }
                            )
                        ),
                        "values": named(text()),
                    }
                )
            ),
        }
    ),
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
_WISH: Final[Json] = {"from": "claude", "to": "codex", "name": "files"}
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
    "message": "env.KEY contains a plain-text secret that every user can read",
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
            "Every scope of every client, and of mcpyard, with its servers and what becomes "
            "of each.",
            {
                200: told(
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
            "Copy a server from one program to another, or move it. What the target cannot hold "
            "is left out and told; with `dryRun` nothing is written.",
            {200: told("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            requestBody=body(ref("Copy"), {"look": {**_WISH, "dryRun": True}, "copy": _WISH}),
        )
    },
    "/api/clients/undo": {
        "post": operation(
            "undoClientEdit",
            "Undo one of the last 100 edits; the newest that is not undone, unless told. Of two "
            "who undo the same one at once, the second gets a 404 that says it is already undone.",
            {200: told("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            requestBody=body(ref("Undo"), {"newest": {}, "one": {"id": 7}}),
        )
    },
    "/api/clients/edits": {
        "get": operation(
            "listClientEdits",
            "The last edits, newest first.",
            {200: told("At most 100.", array(ref("Edit")), [_EDIT])},
            (409,),
            tags=_TAGS,
        )
    },
    "/api/clients/lint": {
        "get": operation(
            "lintClients",
            "What the rules of each program have to say about its files.",
            {200: told("What was found.", array(ref("Finding")), [_FOUND])},
            (409, 422),
            tags=_TAGS,
            parameters=[_PROJECT],
        )
    },
    "/api/clients/drift": {
        "get": operation(
            "compareClients",
            "The servers that are not defined alike everywhere.",
            {200: told("By name.", array(ref("Drift")), [_DRIFTED])},
            (409, 422),
            tags=_TAGS,
            parameters=[_PROJECT],
        )
    },
    "/api/clients/{client}/servers/{name}": {
        "parameters": [parameter("client"), parameter("name"), _SCOPE, _PROJECT],
        "get": operation(
            "showClientServer",
            "One server of a program, with everything that its file says of it.",
            {200: told("The server.", ref("ClientServer"), _SERVER)},
            (404, 409, 422),
            tags=_TAGS,
        ),
        "patch": operation(
            "changeClientServer",
            "Change a server in its program's own file: one entry changes, every other byte "
            "stays. `name` renames it, `enabled` switches it as its program understands it.",
            {200: told("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            parameters=[_DRY],
            requestBody=body(ref("ClientChange"), {"off": {"enabled": False}}, patch=True),
        ),
        "delete": operation(
            "removeClientServer",
            "Take a server out of its program's file.",
            {200: told("What changed, or would.", ref("Done"), _DONE)},
            _CHANGES,
            tags=_TAGS,
            parameters=[_DRY],
        ),
    },
}
