"""Zed: servers are `context_servers` among all other settings, and local ones say `custom`."""

from typing import Final

from mcpyard.formats.facts import (
    USUAL_NAMES,
    Client,
    EntrySchema,
    Field,
    FileFormat,
    project_file,
    user_file,
)

CLIENT: Final = Client(
    id="zed",
    title="Zed",
    scopes=(
        user_file("{config}/zed/settings.json"),
        project_file("{project}/.zed/settings.json"),
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
