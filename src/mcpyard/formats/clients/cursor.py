"""Cursor: an address needs no type, and servers are switched in its own settings."""

from typing import Final

from mcpyard.formats.facts import (
    ENV_BRACES,
    NOWHERE,
    USUAL_NAMES,
    USUAL_TYPES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    Location,
)

CLIENT: Final = Client(
    id="cursor",
    title="Cursor",
    scopes=(
        ClientScope("user", Location(("{home}/.cursor/mcp.json",)), switch=NOWHERE),
        ClientScope(
            "project", Location(("{project}/.cursor/mcp.json",)), switch=NOWHERE, hides=("user",)
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("mcpServers",),
            field_names={Field.TYPE: "type", **USUAL_NAMES},
            types=USUAL_TYPES,
            type_aliases={
                "streamable-http": EntryTransport.HTTP,
                "streamableHttp": EntryTransport.HTTP,
            },
        ),
    ),
    dialect=ENV_BRACES,
)
