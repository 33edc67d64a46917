"""Zed: servers are `context_servers` among all other settings; times are in seconds."""

from typing import Final

from mcpyard.formats.facts import (
    SECOND,
    USUAL_NAMES,
    Client,
    EntrySchema,
    Field,
    FileFormat,
    Unit,
    project_file,
    user_file,
)
from mcpyard.formats.provenance import read_in

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
            units={"timeout": Unit(SECOND)},
        ),
    ),
    format=FileFormat.JSONC,
    provenance=read_in("commit 68db213"),
)
