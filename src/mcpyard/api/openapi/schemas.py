"""Schemas of what no type tells: definitions in any spelling, patches, results of servers."""

from collections.abc import Mapping
from typing import Final

from mcpyard.api.openapi.builders import NULL, Json, array, maybe, members, named, ref, text
from mcpyard.api.openapi.derived import model_properties, oauth, properties
from mcpyard.domain.definition.checks import MAX_NAME
from mcpyard.domain.model import FallbackTool, Policy, ResourceLimits, Scope, ToolPolicy, Transport
from mcpyard.domain.narrowing import list_of
from mcpyard.yard.calls.outcome import ErrorKind
from mcpyard.yard.clients.patching import WORDS
from mcpyard.yard.profiles import LONGEST_NAME
from mcpyard.yard.views.access import ProfileView
from mcpyard.yard.views.clients import EntryView
from mcpyard.yard.views.servers import HealthView, RestartView

_FLAG: Final[Json] = {"type": "boolean"}
_TEXTS: Final = array(text())
_OBJECT: Final[Json] = {"type": "object"}
_NAME: Final = text(minLength=1, maxLength=MAX_NAME)
_PROFILE: Final = {name: properties(ProfileView)[name] for name in ("servers", "tools")}
_PROFILE_NAME: Final = text(
    "Its part of the address; `servers` is reserved.", minLength=1, maxLength=LONGEST_NAME
)
_KEPT: Final[Json] = {"anyOf": [text(), NULL, ref("Masked")]}


def _one_of(*words: str) -> Json:
    return text(enum=[*words])


def _flag(description: str) -> Json:
    return {**_FLAG, "description": description}


def _nullable(parts: Mapping[str, Json]) -> dict[str, Json]:
    """The members of a merge patch, where null removes."""
    return {
        name: part if NULL in list_of(part.get("anyOf")) else maybe(part)
        for name, part in parts.items()
    }


_LIMITS: Final = model_properties(ResourceLimits)
_MEMORY: Final = list_of(_LIMITS["memory"]["anyOf"])
_SIZE: Final = text('A size such as "512MB".')

_POLICY: Final[dict[str, Json]] = {
    **model_properties(Policy),
    "inherit": {"anyOf": [{"const": "all"}, _TEXTS]},
    "health": members({}, properties(HealthView)),
    "restart": members({}, properties(RestartView)),
    "limits": members({}, {**_LIMITS, "memory": {"anyOf": [*_MEMORY, _SIZE]}}),
    "tools": named(ref("ToolPolicy")),
}

_LAUNCH: Final[dict[str, Json]] = {
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

_CHANGED_LAUNCH: Final = _LAUNCH | {
    **dict.fromkeys(("env", "environment", "headers"), named(_KEPT)),
    "oauth": oauth(_KEPT),
}

_FALLBACK: Final = members({"server": text()}, model_properties(FallbackTool))
_TOOL_POLICY: Final[dict[str, Json]] = model_properties(ToolPolicy) | {
    "name": text("The name that agents know it by."),
    "repeatable": _flag(
        "Whether a call may be repeated when nobody knows what became of the first."
    ),
    "fallback": array({"anyOf": [text("The name of a server with the same tool."), _FALLBACK]}),
}

SCHEMAS: Final[Json] = {
    "Masked": {
        **members(
            {"masked": {"const": True}}, {"hint": text("The last characters, if it is long.")}
        ),
        "description": "A literal value that is not shown. In a change it means: keep.",
    },
    "Shown": {"anyOf": [text("A value that is a reference."), ref("Masked")]},
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
            "name": _NAME,
            "scope": _one_of(*Scope),
            "start": _flag("Whether to start it; by its scope when not said."),
        },
        "required": ["name"],
    },
    "Change": {
        **members({}, {**_nullable(_CHANGED_LAUNCH | _POLICY), "name": _NAME}),
        "description": "A JSON merge patch of a record: `null` removes, `name` renames.",
    },
    "ClientChange": {
        **members(
            {},
            {word: properties(EntryView)[word] for word in WORDS.values()}
            | dict.fromkeys(("env", "headers"), maybe(named(_KEPT)))
            | {"envHeaders": maybe(named(maybe(text())))}
            | {"name": text("Its new name."), "enabled": _FLAG},
        ),
        "description": "A merge patch in words that are the same for every client.",
    },
    "NewProfile": members({"name": _PROFILE_NAME}, _PROFILE),
    "ProfileBody": members({}, _PROFILE),
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
                    "passedOver": array(members({"server": text(), "why": text()})),
                    "error": _one_of(*ErrorKind),
                },
            )
        },
        "required": ["yard"],
    },
}
