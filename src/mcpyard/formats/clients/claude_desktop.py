"""Claude Desktop: local servers only; remote ones are connected in its own settings."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    Location,
)

CLIENT: Final = Client(
    id="claude-desktop",
    title="Claude Desktop",
    scopes=(
        ClientScope(
            "user", Location(("{support}/Claude/claude_desktop_config.json",)), switch=NOWHERE
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("mcpServers",),
            field_names={Field.COMMAND: "command", Field.ARGS: "args", Field.ENV: "env"},
        ),
    ),
    speaks=frozenset({EntryTransport.STDIO}),
)
