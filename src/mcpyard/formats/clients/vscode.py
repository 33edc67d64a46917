"""VS Code: a file of its own, under `servers`, beside the `inputs` that entries can refer to.

All its agents, Copilot sessions among them, also use the `.mcp.json` at the root of a workspace
folder: it takes no variables there, tells the transport by itself, and a server of the same name in
another file is another server.
"""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    REMOTE_WAYS,
    USUAL_NAMES,
    USUAL_TYPES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    FileReading,
    Location,
    project_file,
    user_file,
)
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import ENV_BRACES, LITERAL

_ASKS: Final = "VS Code asks for trust before it starts a workspace server"

CLIENT: Final = Client(
    id="vscode",
    title="VS Code",
    aliases=("code",),
    scopes=(
        user_file("{support}/Code/User/mcp.json", switch=NOWHERE),
        project_file(
            "{project}/.vscode/mcp.json",
            switch=NOWHERE,
            trust=_ASKS,
        ),
        ClientScope(
            "shared",
            Location(("{project}/.mcp.json",)),
            switch=NOWHERE,
            trust=_ASKS,
            provenance=read_in("commit 4397565"),
            reading=FileReading(
                shapes=(
                    EntrySchema(
                        field_names={Field.TYPE: "type", **USUAL_NAMES},
                        types=USUAL_TYPES,
                        type_aliases={"streamable-http": EntryTransport.HTTP},
                        type_written=REMOTE_WAYS,
                    ),
                ),
                format=FileFormat.JSON,
                dialect=LITERAL,
            ),
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("servers",),
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.CWD: "cwd",
                Field.OAUTH_CLIENT_ID: "oauth.clientId",
            },
            types=USUAL_TYPES,
            type_written=REMOTE_WAYS,
        ),
    ),
    format=FileFormat.JSONC,
    dialect=ENV_BRACES,
    provenance=read_in("commit 0b37532"),
)
