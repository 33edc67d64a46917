"""Cursor: an address needs no type, and servers are switched in its own settings."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    USUAL_NAMES,
    USUAL_TYPES,
    Client,
    EntrySchema,
    EntryTransport,
    Field,
    project_file,
    user_file,
)
from mcpyard.formats.provenance import SEEN_IN_FILES
from mcpyard.formats.reference_syntax import ENV_BRACES

CLIENT: Final = Client(
    id="cursor",
    title="Cursor",
    scopes=(
        user_file("{home}/.cursor/mcp.json", switch=NOWHERE),
        project_file("{project}/.cursor/mcp.json", switch=NOWHERE),
    ),
    shapes=(
        EntrySchema(
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.OAUTH_CLIENT_ID: "auth.CLIENT_ID",
                Field.OAUTH_CLIENT_SECRET: "auth.CLIENT_SECRET",
                Field.OAUTH_SCOPES: "auth.scopes",
            },
            types=USUAL_TYPES,
            type_aliases={
                "streamable-http": EntryTransport.HTTP,
                "streamableHttp": EntryTransport.HTTP,
            },
        ),
    ),
    dialect=ENV_BRACES,
    provenance=SEEN_IN_FILES,
)
