"""Windsurf: an address stands under `serverUrl`; under `url` it does not connect."""

from typing import Final

from mcpyard.formats.facts import (
    ENV_BRACES,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    Field,
    Location,
)

CLIENT: Final = Client(
    id="windsurf",
    title="Windsurf",
    scopes=(ClientScope("user", Location(("{home}/.codeium/windsurf/mcp_config.json",))),),
    shapes=(
        EntrySchema(
            keys=("mcpServers",),
            field_names={
                **USUAL_NAMES,
                Field.URL: "serverUrl",
                Field.ENABLED: "disabled",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
            opposite=frozenset({"disabled"}),
        ),
    ),
    dialect=ENV_BRACES,
)
