"""VS Code: a file of its own, under `servers`, beside the `inputs` that entries can refer to."""

from typing import Final

from mcpyard.formats.facts import (
    ENV_BRACES,
    NOWHERE,
    REMOTE_WAYS,
    USUAL_NAMES,
    USUAL_TYPES,
    Client,
    ClientScope,
    EntrySchema,
    Field,
    FileFormat,
    Location,
)

CLIENT: Final = Client(
    id="vscode",
    title="VS Code",
    aliases=("code",),
    scopes=(
        ClientScope("user", Location(("{support}/Code/User/mcp.json",)), switch=NOWHERE),
        ClientScope(
            "project",
            Location(("{project}/.vscode/mcp.json",)),
            switch=NOWHERE,
            trust="VS Code asks for trust before it starts a workspace server",
            hides=("user",),
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("servers",),
            field_names={Field.TYPE: "type", **USUAL_NAMES, Field.CWD: "cwd"},
            types=USUAL_TYPES,
            type_written=REMOTE_WAYS,
        ),
    ),
    format=FileFormat.JSONC,
    dialect=ENV_BRACES,
)
