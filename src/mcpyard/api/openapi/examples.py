"""What things look like; a test holds each against its schema."""

import json
from collections.abc import Mapping
from typing import Final

from mcpyard.api.openapi.call_examples import CALL_ANSWERS
from mcpyard.api.openapi.content_examples import CONTENT_ANSWERS, CONTENT_BODIES
from mcpyard.api.security.keys import TICKET_LIFE
from mcpyard.domain.model import Policy
from mcpyard.yard.clients.patching import WORDS

_Object = dict[str, object]

_ID: Final = "5c0e4f5e-8a53-4d3b-9d0a-0a3c1b6f2d11"
_DIGEST: Final = "0f6c2b8a9d3e4f5061728394a5b6c7d8"
_AT: Final = "2026-11-15T09:00:00.000+00:00"
_LATER: Final = "2026-11-15T09:30:00.000+00:00"
_FOLDER: Final = "/home/me/project"
_PATH: Final = "/home/me/.codex/config.toml"
_URL: Final = "https://tickets.example/mcp"
_BEARER: Final = "Bearer ${TICKETS_TOKEN}"
_HEADER: Final = "headers.Authorization"

_DEFINITION: Final[_Object] = {
    "type": "local",
    "command": "npx",
    "args": ["-y", "server-files", "/data"],
    "env": {"LOG": "${LOG_LEVEL}"},
}
_PASTED: Final = json.dumps({"mcpServers": {"files": _DEFINITION}})
_SESSION: Final[_Object] = {
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "files", "version": "1"},
    "tools": [{"name": "read", "description": "Read a file."}],
    "warnings": [],
}
_SERVER: Final[_Object] = {
    **Policy().model_dump(mode="json", by_alias=True),
    **_DEFINITION,
    **_SESSION,
    "env": {"LOG": "${LOG_LEVEL}", "API_KEY": {"masked": True, "hint": "...9f2c"}}, "cwd": None,
    "id": _ID, "name": "files", "title": "Shared files", "tags": ["work"],
    "scope": "project", "transport": "stdio",
    "toolPolicies": {}, "wanted": "running", "wantedConcurrency": 0, "concurrency": 256,
    "status": "connected", "state": "running", "phase": "connected", "since": _AT, "pid": 4711,
    "error": None, "attempt": 0, "maxAttempts": 3, "nextRetryAt": None, "needsApproval": None,
    "thisYard": False, "toolsStale": False, "toolCount": 1, "digest": _DIGEST,
}  # fmt: skip
_PARSED: Final[_Object] = {"name": "files", "definition": _DEFINITION, "warnings": []}
_IMPORTED: Final[_Object] = {
    "name": "files", "outcome": "imported", "server": _SERVER, "problem": None, "warnings": [],
}  # fmt: skip
_TOOL: Final[_Object] = {
    "name": "read", "title": None, "description": "Read a file.", "server": "files",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}},
    "outputSchema": None, "annotations": {"readOnlyHint": True},
    "enabled": True, "exposedName": "mcp_files_read", "stale": False,
}  # fmt: skip
_OUTCOME: Final[_Object] = {
    "content": [{"type": "text", "text": "hi"}],
    "yard": {
        "server": "files",
        "tool": "read",
        "ms": 1.25,
        "attribution": {"source": "files", "updatedAt": None, "retrievedAt": None},
        "tried": ["files"],
    },
}
_DEGRADATION: Final[_Object] = {
    "component": "storage",
    "detail": "/home/me/.local/share/mcpyard is not writable: No space left on device",
    "hint": "Free some disk space, then try again.",
}
_SICKNESS: Final[_Object] = {
    "ok": False, "type": "urn:mcpyard:error:state-gone", "title": "State gone", "status": 507,
    "hint": "Put the home back, or stop mcpyard and start it again: mcpyard up",
}  # fmt: skip
_PROFILE: Final[_Object] = {
    "servers": ["files", "git*"],
    "tools": {"files": {"delete_file": {"enabled": False}, "read_file": {"name": "read"}}},
}
_NAMED_PROFILE: Final = {"name": "work"} | _PROFILE
_TOKEN: Final[_Object] = {
    "id": "4f1c2b3a-5d6e-4f70-8a9b-0c1d2e3f4a5b", "name": "laptop", "profile": None,
    "created": _LATER, "lastUsed": None, "revoked": None, "expires": None,
}  # fmt: skip
_WAITING: Final[_Object] = {
    "name": "tickets",
    "kind": "changed",
    "replaces": None,
    "fields": [
        {"field": "url", "value": _URL, "marked": False},
        {"field": _HEADER, "value": _BEARER, "marked": False},
    ],
    "variables": [{"name": "TICKETS_TOKEN", "field": _HEADER, "host": "tickets.example"}],
    "changes": [{"field": "url", "before": "https://old.example/mcp", "after": _URL}],
}
_REGISTRATION: Final[_Object] = {
    "name": "tickets", "type": "http", "url": _URL, "headers": {"Authorization": _BEARER},
    "scope": "user", "start": True,
}  # fmt: skip
_APPROVAL: Final[_Object] = {"folder": _FOLDER, "digest": _DIGEST}

_SCOPE: Final[_Object] = {"client": "codex", "title": "Codex", "scope": "user", "path": _PATH}
_BRIEF: Final[_Object] = {
    "name": "files", "command": "npx", "args": ["files"], "url": None,
    "enabled": True, "effective": "enabled", "reason": "",
}  # fmt: skip
_ENTRY: Final[_Object] = {
    **dict.fromkeys(WORDS.values()),
    **_SCOPE,
    **_BRIEF,
    "env": {"KEY": {"masked": True, "hint": ""}},
    "oauth": [],
    "unknown": [],
    "where": None,
    "problems": [],
}
_DIFF: Final = f'--- {_PATH}\n+++ {_PATH}\n@@ -2,1 +2,1 @@\n-args = []\n+args = ["files"]\n'
_DONE: Final[_Object] = {"files": [{"path": _PATH, "diff": _DIFF}], "warnings": [], "edit": 7}
_EDIT: Final[_Object] = {
    "id": 7, "at": "2026-11-15T12:00:00.000+00:00", "who": "rest", "kind": "copy",
    "paths": [_PATH], "servers": [], "undone": False,
}  # fmt: skip
_FINDING: Final[_Object] = {
    "code": "secret-readable", "level": "warning", "client": "codex", "scope": "user",
    "name": "files", "place": {"file": _PATH, "line": 4, "column": 1},
    "message": "env.KEY holds a secret that every user can read", "hint": "chmod 600",
}  # fmt: skip
_VARIANT: Final[_Object] = {
    "in": [{"client": "codex", "scope": "user", "path": _PATH, "effective": "enabled"}],
    "values": {"args": "files"},
}
_COPY: Final[_Object] = {"from": "claude", "to": "codex", "name": "files"}

_COPIED: Final[dict[str, object]] = {
    "name": "files",
    "to": "codex:user",
    "warnings": [],
    "refused": None,
}
_SYNC_CELL: Final[dict[str, object]] = {
    "server": "files",
    "target": "codex:user",
    "state": "missing",
    "wanted": True,
    "changes": True,
    "reason": "",
    "choices": [],
    "seen": "",
    "differences": [],
    "warnings": [],
}
_SYNC_TARGET: Final[dict[str, object]] = {
    "target": "codex:user",
    "client": "codex",
    "title": "Codex",
    "scope": "user",
    "path": _PATH,
    "source": "user",
    "gateway": False,
    "problems": [],
}
_ADOPTED: Final[dict[str, object]] = {
    "name": "files",
    "outcome": "adopted",
    "targets": ["claude-code:user", "codex:user"],
    "reason": "",
}

_NODE: Final = {
    "name": "n1",
    "state": "up",
    "beatAgeMs": 340,
    "servers": 12,
    "capacity": 200,
    "labels": {"gpu": "yes"},
    "version": "0.2.0",
    "reachable": True,
    "problem": None,
}
_REASON: Final = {
    "why": "taken-over",
    "source": "n2",
    "by": None,
    "since": _AT,
    "kept": False,
    "labels": {"gpu": "yes"},
}
_PLACED: Final = {
    "server": _ID,
    "name": "files",
    "node": "n1",
    "nextNode": None,
    "pinned": False,
    "singleton": True,
    "nodeReason": _REASON,
}
_CLUSTER_EVENT: Final = {
    "id": 17,
    "at": _AT,
    "kind": "placed",
    "node": "n1",
    "server": _ID,
    "name": "files",
    "source": "n2",
    "why": "taken-over",
    "by": None,
}
_SYNC: Final[dict[str, object]] = {
    "sources": [{"scope": "user", "path": "yard:user"}],
    "targets": [_SYNC_TARGET],
    "cells": [_SYNC_CELL],
    "files": [{"path": _PATH, "diff": "..."}],
    "edit": 14,
    "writes": 1,
    "conflicts": 0,
    "waiting": 0,
    "different": 0,
    "warnings": [],
}
_ASSIGNMENT: Final[dict[str, object]] = {"server": "files", "target": "codex:user", "wanted": True}
_HOME_FILE: Final = "/home/me/.local/share/mcpyard/mcpyard.toml"

ANSWERS: Final[Mapping[str, object]] = {
    "Server": _SERVER,
    "Revealed": {"env": {"API_KEY": "a-secret"}},
    "Tool": _TOOL,
    "Outcome": _OUTCOME,
    **CONTENT_ANSWERS,
    "Parsed": {"servers": [_PARSED], "problems": []},
    "Trial": {"ok": True, **_SESSION},
    "Imported": {"dryRun": False, "servers": [_IMPORTED], "problems": [], "edit": 14},
    **CALL_ANSWERS,
    "Alive": {"ok": True},
    "Readiness": {"ok": True, "status": "degraded", "degraded": [_DEGRADATION]},
    "Health": {"ok": True},
    "Sickness": _SICKNESS,
    "Profile": _NAMED_PROFILE,
    "SeenClient": {
        "name": "codex-mcp-client",
        "version": "0.166.0",
        "client": "codex",
        "title": "Codex",
        "lastSeen": "2026-07-28T12:00:00.000+00:00",
        "sessions": 1,
    },
    "StoredSecret": {
        "name": "GITHUB_TOKEN",
        "stored": True,
        "store": "mcpyard",
        "readable": True,
        "overridden": False,
        "usedBy": ["github"],
        "allowed": [],
        "needsConsent": [],
    },
    "SecretChange": {"name": "GITHUB_TOKEN", "launchedAnew": ["github"], "edit": 16},
    "Token": _TOKEN,
    "MadeToken": _TOKEN | {"token": "mcpyard_..."},
    "Revocation": {"unconfirmed": ["n3"]},
    "LoginLink": {"url": "http://127.0.0.1:8712/login?link=...", "expires": _LATER},
    "Ticket": {"ticket": "...", "expiresIn": TICKET_LIFE},
    "WaitingFolder": {**_APPROVAL, "servers": [_WAITING]},
    "Approved": {"folder": _FOLDER, "servers": ["tickets"], "waiting": []},
    "SignIn": {"authorizationUrl": "https://login.example/authorize?state=x"},
    "Cluster": {
        "node": "n1",
        "nodes": [_NODE],
        "database": "ok",
        "isolated": False,
        "placements": [_PLACED],
        "events": [_CLUSTER_EVENT],
    },
    "Placement": {"server": _ID, "node": "n1", "fence": 3, "nextNode": "n2"},
    "ClientGroup": {
        **_SCOPE,
        "evidence": "ran",
        "version": "0.166.0",
        "verified": True,
        "exists": True,
        "servers": [_BRIEF],
        "problems": [],
    },
    "ClientServer": _ENTRY,
    "Done": _DONE,
    "Copies": {
        "files": [{"path": _PATH, "diff": "..."}],
        "copies": [_COPIED],
        "warnings": [],
        "edit": 13,
    },
    "Sync": _SYNC,
    "SyncMatrix": {
        "plan": _SYNC | {"edit": None},
        "file": _HOME_FILE,
        "assignments": [_ASSIGNMENT | {"source": "user", "file": _HOME_FILE, "locked": ""}],
    },
    "Adoption": {"servers": [_ADOPTED], "files": [], "edit": 15, "conflicts": 0, "warnings": []},
    "Edit": _EDIT,
    "Finding": _FINDING,
    "Drift": {"name": "files", "variants": [_VARIANT]},
    "Connected": _DONE | {"files": [{"path": _PATH, "diff": "..."}], "edit": 12, "token": None},
}
"""An example of each thing that is answered, by its name in the document."""

_DECIDED: Final = {"server": "files", "target": "codex:user", "seen": "0c51a5d0"}

BODIES: Final[Mapping[str, Mapping[str, object]]] = {
    **CONTENT_BODIES,
    "Registration": {"command": {"name": "files", **_DEFINITION}, "address": _REGISTRATION},
    "Change": {
        "arguments": {"args": ["-y", "server-files", "/other"], "timeout": 60000},
        "rename": {"name": "documents"},
        "variables": {"env": {"LOG": None, "API_KEY": {"masked": True}}},
        "off": {"enabled": False},
    },
    "ToolPolicy": {"off": {"enabled": False}},
    "Asked": {"echo": {"arguments": {"text": "hi"}, "timeoutMs": 5000}},
    "Pasted": {"json": {"text": _PASTED}},
    "RecordingMode": {"on": {"mode": "on"}},
    "Definition": {"local": _DEFINITION},
    "Import": {"look": {"text": _PASTED, "dryRun": True}, "machine": {}},
    "Move": {"node": {"node": "n2"}},
    "NewProfile": {"work": _NAMED_PROFILE},
    "ProfileBody": {"work": _PROFILE},
    "SecretBody": {
        "set": {"value": "ghp_..."},
        "allow": {"allow": ["/home/me/project/.mcp.json"]},
    },
    "NewToken": {"all": {"name": "laptop"}},
    "Approval": {"shown": _APPROVAL, "replacing": {**_APPROVAL, "replace": ["tickets"]}},
    "ClientChange": {"off": {"enabled": False}},
    "Copy": {"look": {**_COPY, "dryRun": True}, "copy": _COPY},
    "CopyMany": {
        "some": {"from": "claude", "to": ["codex", "gemini"], "names": ["files", "docs"]},
        "all": {"from": "yard", "to": ["cursor"], "dryRun": True},
    },
    "SyncRequest": {
        "all": {},
        "some": {"targets": ["claude", "codex:user"], "project": "/home/me/project"},
        "decide": {"decisions": [{**_DECIDED, "choice": "theirs"}]},
    },
    "AdoptRequest": {
        "some": {"targets": ["claude", "codex"]},
        "chosen": {"chosen": {"files": "codex:user"}},
    },
    "AssignmentsRequest": {"one": {"assignments": [_ASSIGNMENT]}},
    "SyncApproval": {"shown": {"project": "/home/me/project", "digest": "5f1c"}},
    "Undo": {"newest": {}, "one": {"id": 7}},
    "Connect": {"codex": {"client": "codex", "profile": "work"}},
    "Disconnect": {"codex": {"client": "codex", "dryRun": True}},
}
"""Examples of each body, by its name in the document."""

EVENTS: Final = (
    "id: 3f9a1c5d7e21-41\nevent: status\n"
    'data: {"id": "' + _ID + '", "name": "files", "status": "connected", "state": "running"}\n\n'
)

METRICS: Final = (
    "# HELP mcpyard_calls_total Calls of a server's tools.\n"
    "# TYPE mcpyard_calls_total counter\n"
    'mcpyard_calls_total{server="files"} 17\n'
)
