"""The shapes of what goes in and out."""

from typing import Final

from mcpyard.api.openapi.words import Json, array, maybe, members, named, ref, text
from mcpyard.domain.cause import Code
from mcpyard.domain.definition.checks import MAX_NAME
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import (
    HARD_MAX_MESSAGE,
    MAX_TIMEOUT,
    MOST_TIMES,
    OAuthClient,
    Scope,
    Transport,
    Wanted,
)
from mcpyard.domain.status import RunState, Status
from mcpyard.yard.calls.outcome import ErrorKind

_FLAG: Final[Json] = {"type": "boolean"}
_COUNT: Final[Json] = {"type": "integer", "minimum": 0}
_TIMES: Final[Json] = {"type": "integer", "minimum": 0, "maximum": MOST_TIMES}
_MILLISECONDS: Final[Json] = {"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT}
_LIMIT: Final = {**_MILLISECONDS, "description": "A hard limit."}
_TEXTS: Final = array({"type": "string"})
_MOMENT: Final = maybe(text(format="date-time"))
_ANYTHING: Final[Json] = {}
_PASSED_OVER: Final = array(members({"server": text(), "why": text()}))
_OBJECT: Final[Json] = {"type": "object"}


def _one_of(*words: str) -> Json:
    return {"type": "string", "enum": [*words]}


def _oauth(value: Json) -> Json:
    # Other programs that share a file have words of their own in there, which are passed over.
    names = (info.alias or name for name, info in OAuthClient.model_fields.items())
    return {"type": "object", "properties": dict.fromkeys(names, value)}


_ISOLATION: Final = _one_of("shared", "per-client")

_HEALTH: Final[dict[str, Json]] = {
    "interval": {**_MILLISECONDS, "description": "Silence after which the server is pinged."},
    "timeout": {**_MILLISECONDS, "description": "How long it has to answer a ping."},
    "failures": {
        "type": "integer",
        "minimum": 1,
        "maximum": MOST_TIMES,
        "description": "Calls past their limits, or missed pings, in a row.",
    },
}
_RESTART: Final[dict[str, Json]] = {
    "attempts": {**_TIMES, "description": "Restarts in a row."},
    "limit": {**_TIMES, "description": "Restarts within the window."},
    "window": _MILLISECONDS,
}

_POLICY: Final[Json] = {
    "enabled": _FLAG,
    "timeout": _MILLISECONDS,
    "startTimeout": _MILLISECONDS,
    "wanted": _one_of(*Wanted),
    "progressExtends": _FLAG,
    "fallback": _TEXTS,
    "inherit": {"anyOf": [{"const": "all"}, _TEXTS]},
    "isolation": _ISOLATION,
    "concurrency": _TIMES,
    "maxMessage": {"type": "integer", "minimum": 1, "maximum": HARD_MAX_MESSAGE},
    "health": members({}, _HEALTH),
    "restart": members({}, _RESTART),
    "tools": named(ref("ToolPolicy")),
    "title": text(),
    "description": text(),
}

_LAUNCH: Final[Json] = {
    "type": _one_of("local", "stdio", "remote", "http", "streamable-http", "sse"),
    "transport": _one_of(*Transport),
    "command": {"anyOf": [text(minLength=1), {**_TEXTS, "minItems": 1}]},
    "args": _TEXTS,
    "env": named(text()),
    "environment": named(text()),
    "cwd": text(),
    "url": text(),
    "headers": named(text()),
    "oauth": {"anyOf": [_oauth(text()), {"const": False}]},
}

_KEPT: Final[Json] = {"anyOf": [text(), {"type": "null"}, ref("Masked")]}

_CHANGED_LAUNCH: Final[Json] = _LAUNCH | {
    "env": named(_KEPT),
    "environment": named(_KEPT),
    "headers": named(_KEPT),
    "oauth": _oauth(_KEPT),
}


def _nullable(properties: Json) -> dict[str, Json]:
    return {name: {"anyOf": [schema, {"type": "null"}]} for name, schema in properties.items()}


_TOOL_POLICY: Final[Json] = {
    "enabled": _FLAG,
    "name": text("The name that agents know it by."),
    "description": text(),
    "timeout": _MILLISECONDS,
    "progressExtends": _FLAG,
    "repeatable": {
        **_FLAG,
        "description": "Whether a call may be repeated when nobody knows what became of the first.",
    },
    "fallback": array(
        {
            "anyOf": [
                text("The name of a server with the same tool."),
                members(
                    {"server": text()},
                    {
                        "tool": text(),
                        "arguments": named({"anyOf": [text(), {"type": "null"}]}),
                    },
                ),
            ]
        }
    ),
}

SCHEMAS: Final[Json] = {
    "Masked": {
        **members(
            {"masked": {"const": True}}, {"hint": text("The last characters, if it is long.")}
        ),
        "description": "A literal value that is not shown. In a change it means: keep.",
    },
    "ToolPolicy": members({}, _nullable(_TOOL_POLICY)),
    "Definition": {
        "type": "object",
        "description": "A server in any spelling. It has a `command` or a `url`.",
        "properties": _LAUNCH | _POLICY,
    },
    "Registration": {
        "type": "object",
        "description": "A definition, with its name and where it should live.",
        "properties": {
            **_LAUNCH,
            **_POLICY,
            "name": text(minLength=1, maxLength=MAX_NAME),
            "scope": _one_of(*Scope),
            "start": {**_FLAG, "description": "Whether to start it; by its scope when not said."},
        },
        "required": ["name"],
    },
    "Change": {
        **members(
            {},
            {
                **_nullable(_CHANGED_LAUNCH | _POLICY),
                "name": text(minLength=1, maxLength=MAX_NAME),
            },
        ),
        "description": "A JSON merge patch of a record: `null` removes, `name` renames.",
    },
    "Cause": members(
        {
            "code": _one_of(*Code),
            "message": text(),
            "hint": text("What to do about it."),
            "stderr": _TEXTS,
        }
    ),
    "Server": members(
        {
            "id": text(format="uuid"),
            "name": text(),
            "title": maybe(text("What it is called on the page.")),
            "description": maybe(text("What is said about it on the page.")),
            "scope": _one_of(*Scope),
            "type": _one_of("local", "remote"),
            "transport": maybe(_one_of(*Transport)),
            "enabled": _FLAG,
            "timeout": _MILLISECONDS,
            "startTimeout": maybe(_MILLISECONDS),
            "progressExtends": _FLAG,
            "fallback": {**_TEXTS, "description": "Servers that can answer in its place."},
            "inherit": _TEXTS,
            "isolation": _ISOLATION,
            "wantedConcurrency": {
                **_TIMES,
                "description": "What a change calls `concurrency`; 0 for no limit.",
            },
            "maxMessage": _COUNT,
            "health": members(_HEALTH),
            "restart": members(_RESTART),
            "toolPolicies": {
                **named(ref("ToolPolicy")),
                "description": "What a change calls `tools`.",
            },
            "thisYard": {**_FLAG, "description": "Whether it leads back here; never connected."},
            "status": _one_of(*Status),
            "state": _one_of(*RunState),
            "phase": _one_of(*Phase),
            "error": maybe(ref("Cause")),
            "attempt": _COUNT,
            "maxAttempts": _COUNT,
            "nextRetryAt": _MOMENT,
            "pid": maybe({"type": "integer"}),
            "since": _MOMENT,
            "wanted": _one_of(*Wanted),
            "protocolVersion": maybe(text()),
            "serverInfo": maybe(_OBJECT),
            "concurrency": maybe({"type": "integer"}),
            "needsApproval": maybe(_one_of("added", "changed", "replaces")),
            "toolsStale": {
                **_FLAG,
                "description": "Whether the tools are cached: it is not connected or responding.",
            },
            "warnings": _TEXTS,
            "digest": text("What `If-Match` of a change names, in quotes."),
            "toolCount": _COUNT,
        },
        {
            "command": text(),
            "args": _TEXTS,
            "env": named(ref("Shown")),
            "cwd": maybe(text()),
            "url": text(),
            "headers": named(ref("Shown")),
            "oauth": _oauth(ref("Shown")),
            "tools": array(members({"name": text(), "description": text()})),
            "figures": maybe(
                members({"processes": _COUNT, "rss": _COUNT, "cpuSeconds": {"type": "number"}})
            ),
        },
    ),
    "Shown": {"anyOf": [text("A value that is a reference."), ref("Masked")]},
    "Revealed": members(
        {},
        {
            "env": named(text()),
            "url": text(),
            "headers": named(text()),
            "oauth": _oauth(text()),
        },
    ),
    "Tool": members(
        {
            "name": text("The server's own name of it."),
            "title": maybe(text()),
            "description": text(),
            "inputSchema": _ANYTHING,
            "outputSchema": _ANYTHING,
            "annotations": _OBJECT,
            "enabled": _FLAG,
            "exposedName": text("The name that agents know it by."),
            "server": text(),
            "stale": {
                **_FLAG,
                "description": "Whether it is cached: not connected, or not responding.",
            },
        }
    ),
    "Asked": members({}, {"arguments": _OBJECT, "timeoutMs": _LIMIT, "_meta": _OBJECT}),
    "Outcome": {
        "type": "object",
        "description": "The server's result object as it came, with one member more.",
        "properties": {
            "yard": members(
                {
                    "server": text(),
                    "tool": text(),
                    "ms": {"type": "number", "minimum": 0},
                    "attribution": members(
                        {
                            "source": text("At least the name of the server."),
                            "updatedAt": maybe(text("Of which day it is.")),
                            "retrievedAt": maybe(text("When its server got it.")),
                        },
                        {"details": _OBJECT},
                    ),
                    "tried": {**_TEXTS, "description": "The servers asked; the last one answered."},
                },
                {
                    "passedOver": _PASSED_OVER,
                    "error": _one_of(*ErrorKind),
                },
            )
        },
        "required": ["yard"],
    },
    "LogLine": members(
        {"number": {"type": "integer"}, "at": text(format="date-time"), "text": text()}
    ),
    "Pasted": members({"text": text("JSON, TOML or command lines, as they were copied.")}),
    "Parsed": members(
        {
            "servers": array(
                members({"name": text(), "definition": ref("Definition"), "warnings": _TEXTS})
            ),
            "problems": array(ref("FieldProblem")),
        }
    ),
    "Import": members(
        {},
        {
            "text": text(
                "JSON, TOML or command lines, as they were copied; without it, whatever is found "
                "in the files of other programs on this machine."
            ),
            "dryRun": _FLAG,
            "scope": _one_of(*Scope),
            "project": text("The folder to look from, where there is no text.", pattern="^/"),
        },
    ),
    "Imported": members(
        {
            "dryRun": _FLAG,
            "servers": array(
                members(
                    {
                        "name": text(),
                        "outcome": _one_of("imported", "importable", "refused", "skipped"),
                        "server": maybe(ref("Server")),
                        "problem": maybe(ref("Problem")),
                        "warnings": _TEXTS,
                    },
                    {"from": text("Where it was found."), "reason": text()},
                )
            ),
            "problems": array(ref("FieldProblem")),
        }
    ),
    "Trial": members(
        {
            "ok": {"const": True},
            "protocolVersion": maybe(text()),
            "serverInfo": maybe(_OBJECT),
            "tools": array(members({"name": text(), "description": text()})),
            "warnings": _TEXTS,
        }
    ),
    "Calls": members(
        {
            "calls": array(ref("Call")),
            "next": {
                "anyOf": [{"type": "integer"}, {"type": "null"}],
                "description": "What `before` of the next page is; null on the last one.",
            },
        }
    ),
    "Call": members(
        {
            "id": {"type": "integer"},
            "at": text(format="date-time"),
            "who": text(),
            "server": text("What it was called then."),
            "serverId": text(format="uuid"),
            "tool": text(),
            "ms": {"type": "number"},
            "outcome": text("`ok`, `tool_error`, `cancelled`, or the problem's last word."),
            "bytesIn": _COUNT,
            "bytesOut": _COUNT,
        }
    ),
    "SignIn": members({"authorizationUrl": text()}),
    "Health": members(
        {"ok": {"const": True}},
        {"servers": named(_one_of(*Status)), "problems": array(ref("PlacedProblem"))},
    ),
    "Sickness": members(
        {"ok": {"const": False}, "type": text(), "title": text(), "status": {"const": 507}},
        {
            "detail": text("What is wrong; with the token only."),
            "hint": text(),
            "servers": named(_one_of(*Status)),
            "problems": array(ref("PlacedProblem")),
        },
    ),
    "FieldProblem": members({"field": text(), "message": text()}),
    "Problem": members(
        {
            "type": text("A stable name.", pattern="^urn:mcpyard:error:[a-z-]+$"),
            "title": text(),
            "status": {"type": "integer"},
            "detail": text(),
        },
        {
            "hint": text("What to do about it."),
            "problems": array(ref("FieldProblem")),
            "cause": ref("Cause"),
            "passedOver": _PASSED_OVER,
            "files": array(ref("FileDiff")),
            "rpc": members({"code": {"type": "integer"}, "data": _ANYTHING}),
        },
    ),
}
