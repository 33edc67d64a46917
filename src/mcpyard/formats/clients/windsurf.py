"""Windsurf: an address stands under `serverUrl`; under `url` it does not connect."""

from typing import Final

from mcpyard.formats.facts import USUAL_NAMES, Client, EntrySchema, Field, user_file
from mcpyard.formats.provenance import SEEN_IN_FILES
from mcpyard.formats.reference_syntax import ENV_BRACES

CLIENT: Final = Client(
    id="windsurf",
    title="Windsurf",
    scopes=(user_file("{home}/.codeium/windsurf/mcp_config.json"),),
    shapes=(
        EntrySchema(
            field_names={
                **USUAL_NAMES,
                Field.URL: "serverUrl",
                Field.ENABLED: "disabled",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
        ),
    ),
    dialect=ENV_BRACES,
    provenance=SEEN_IN_FILES,
)
