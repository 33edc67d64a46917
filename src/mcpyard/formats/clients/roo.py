"""Roo Code: a remote entry needs a type, and times are in seconds."""

from typing import Final

from mcpyard.formats.facts import (
    ENV_BRACES,
    REMOTE_WAYS,
    SECOND,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    Location,
    Unit,
)

_EXTENSION: Final = "{support}/Code/User/globalStorage/rooveterinaryinc.roo-cline"

CLIENT: Final = Client(
    id="roo",
    title="Roo Code",
    scopes=(
        ClientScope(
            "user",
            Location((f"{_EXTENSION}/settings/mcp_settings.json",)),
        ),
        ClientScope("project", Location(("{project}/.roo/mcp.json",)), hides=("user",)),
    ),
    shapes=(
        EntrySchema(
            keys=("mcpServers",),
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.CWD: "cwd",
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
            opposite=frozenset({"disabled"}),
            types={
                EntryTransport.STDIO: "stdio",
                EntryTransport.HTTP: "streamable-http",
                EntryTransport.SSE: "sse",
                EntryTransport.REMOTE: "streamable-http",
            },
            type_needed=REMOTE_WAYS,
            type_written=REMOTE_WAYS,
            units={"timeout": Unit(SECOND)},
        ),
    ),
    dialect=ENV_BRACES,
)
