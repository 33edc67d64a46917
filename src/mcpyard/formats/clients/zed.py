"""Zed: servers are `context_servers` among all other settings, and local ones say `custom`."""

from typing import Final

from mcpyard.formats.facts import (
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    Field,
    FileFormat,
    Location,
)

CLIENT: Final = Client(
    id="zed",
    title="Zed",
    scopes=(
        ClientScope("user", Location(("{config}/zed/settings.json",))),
        ClientScope("project", Location(("{project}/.zed/settings.json",)), hides=("user",)),
    ),
    shapes=(
        EntrySchema(
            keys=("context_servers",),
            field_names={**USUAL_NAMES, Field.ENABLED: "enabled", Field.CALL_TIMEOUT: "timeout"},
            fixed={"source": "custom"},
        ),
    ),
    format=FileFormat.JSONC,
)
