"""Goose: a map of extensions, of which MCP servers are some.

Those that are built in, or a part of the program, are left alone. An entry needs its name, its
type, `enabled` and some fields besides, even if they are empty; a bad one costs only itself. SSE is
no longer supported.
"""

from typing import Final

from mcpyard.formats.facts import (
    ALL_WAYS,
    SECOND,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    NameRule,
    Unit,
)
from mcpyard.formats.provenance import read_in

CLIENT: Final = Client(
    id="goose",
    title="Goose",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{config}/goose/config.yaml",),
                ("GOOSE_PATH_ROOT", ("{moved}/config/config.yaml",)),
            ),
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("extensions",),
            own_name="name",
            field_names={
                Field.ENABLED: "enabled",
                Field.TYPE: "type",
                Field.COMMAND: "cmd",
                Field.ARGS: "args",
                Field.URL: "uri",
                Field.HEADERS: "headers",
                Field.ENV: "envs",
                Field.ENV_VARS: "env_keys",
                Field.CALL_TIMEOUT: "timeout",
                Field.ONLY_TOOLS: "available_tools",
            },
            types={
                EntryTransport.STDIO: "stdio",
                EntryTransport.HTTP: "streamable_http",
                EntryTransport.REMOTE: "streamable_http",
            },
            type_needed=ALL_WAYS,
            type_written=ALL_WAYS,
            other_types=frozenset({"builtin", "frontend", "inline_python", "platform"}),
            needed={"enabled": True, "args": []},
            needed_remote={"enabled": True, "description": ""},
            units={"timeout": Unit(SECOND)},
            others=frozenset({"bundled", "description", "display_name"}),
        ),
    ),
    format=FileFormat.YAML,
    speaks=frozenset({EntryTransport.STDIO, EntryTransport.HTTP, EntryTransport.REMOTE}),
    names=NameRule(r"[^\sA-Z]+", folded=True, says="names without spaces and capital letters"),
    provenance=read_in("1"),
)
