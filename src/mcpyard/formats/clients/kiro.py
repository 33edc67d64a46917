"""Kiro: the usual words, `disabled`, and tools that are left out."""

from typing import Final

from mcpyard.formats.facts import USUAL_NAMES, Client, EntrySchema, Field, project_file, user_file
from mcpyard.formats.provenance import SEEN_IN_FILES
from mcpyard.formats.reference_syntax import BRACES

CLIENT: Final = Client(
    id="kiro",
    title="Kiro",
    scopes=(
        user_file("{home}/.kiro/settings/mcp.json"),
        project_file("{project}/.kiro/settings/mcp.json"),
    ),
    shapes=(
        EntrySchema(
            field_names={
                **USUAL_NAMES,
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
        ),
    ),
    dialect=BRACES,
    provenance=SEEN_IN_FILES,
)
