"""VS Code: a file of its own, under `servers`, beside the `inputs` that entries can refer to."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    REMOTE_WAYS,
    USUAL_NAMES,
    USUAL_TYPES,
    Client,
    EntrySchema,
    Field,
    FileFormat,
    project_file,
    user_file,
)
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import ENV_BRACES

CLIENT: Final = Client(
    id="vscode",
    title="VS Code",
    aliases=("code",),
    scopes=(
        user_file("{support}/Code/User/mcp.json", switch=NOWHERE),
        project_file(
            "{project}/.vscode/mcp.json",
            switch=NOWHERE,
            trust="VS Code asks for trust before it starts a workspace server",
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
    provenance=read_in("commit 0b37532"),
)
