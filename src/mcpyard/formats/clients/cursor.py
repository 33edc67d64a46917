"""Cursor: an address needs no type, and servers are switched in its own settings."""

from typing import Final

from mcpyard.formats.facts import (
    ENV_BRACES,
    NOWHERE,
    USUAL_TYPES,
    USUAL_WORDS,
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
            words={Field.TYPE: "type", **USUAL_WORDS},
            types=USUAL_TYPES,
            type_words={
                "streamable-http": EntryTransport.HTTP,
                "streamableHttp": EntryTransport.HTTP,
            },
        ),
    ),
    dialect=ENV_BRACES,
)
