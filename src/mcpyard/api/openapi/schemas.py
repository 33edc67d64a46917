"""The shapes of what goes in, and of what servers answer."""

from typing import Final

from mcpyard.api.openapi.builders import Json, array, maybe, members, named, ref, text
from mcpyard.api.openapi.derived import oauth
from mcpyard.domain.definition.checks import MAX_NAME
from mcpyard.domain.model import (
    HARD_MAX_MESSAGE,
    MAX_TIMEOUT,
    MOST_TIMES,
    MOST_WAITING,
    Scope,
    Transport,
    Wanted,
)
from mcpyard.yard.calls.outcome import ErrorKind

_FLAG: Final[Json] = {"type": "boolean"}
_TIMES: Final[Json] = {"type": "integer", "minimum": 0, "maximum": MOST_TIMES}
_MILLISECONDS: Final[Json] = {"type": "integer", "minimum": 1, "maximum": MAX_TIMEOUT}
_LIMIT: Final = {**_MILLISECONDS, "description": "A hard limit."}
_TEXTS: Final = array({"type": "string"})
_PASSED_OVER: Final = array(members({"server": text(), "why": text()}))
_OBJECT: Final[Json] = {"type": "object"}


def _one_of(*words: str) -> Json:
    return {"type": "string", "enum": [*words]}


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
    "isolation": _one_of("shared", "per-client"),
    "concurrency": _TIMES,
    "queue": {"type": "integer", "minimum": 0, "maximum": MOST_WAITING},
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
    "oauth": {"anyOf": [oauth(text()), {"const": False}]},
}

_KEPT: Final[Json] = {"anyOf": [text(), {"type": "null"}, ref("Masked")]}

_CHANGED_LAUNCH: Final[Json] = _LAUNCH | {
    "env": named(_KEPT),
    "environment": named(_KEPT),
    "headers": named(_KEPT),
    "oauth": oauth(_KEPT),
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
    "Shown": {"anyOf": [text("A value that is a reference."), ref("Masked")]},
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
    "Pasted": members({"text": text("JSON, TOML or command lines, as they were copied.")}),
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
}
