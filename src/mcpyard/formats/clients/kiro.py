"""Kiro: the usual words, `disabled`, and tools that are left out."""

from typing import Final

from mcpyard.formats.facts import (
    BRACES,
    USUAL_WORDS,
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
            words={
                **USUAL_WORDS,
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
            opposite=frozenset({"disabled"}),
        ),
    ),
    dialect=BRACES,
)
