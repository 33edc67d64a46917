"""Kiro: the usual words, `disabled`, and tools that are left out."""

from typing import Final

from mcpyard.formats.facts import (
    BRACES,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    Field,
    Location,
)

CLIENT: Final = Client(
    id="kiro",
    title="Kiro",
    scopes=(
        ClientScope("user", Location(("{home}/.kiro/settings/mcp.json",))),
        ClientScope("project", Location(("{project}/.kiro/settings/mcp.json",)), hides=("user",)),
    ),
    shapes=(
        EntrySchema(
            keys=("mcpServers",),
            field_names={
                **USUAL_NAMES,
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
            opposite=frozenset({"disabled"}),
        ),
    ),
    dialect=BRACES,
)
