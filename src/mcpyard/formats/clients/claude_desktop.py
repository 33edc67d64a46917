"""Claude Desktop: local servers only; remote ones are connected in its own settings."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, EntrySchema, EntryTransport, Field, user_file
from mcpyard.formats.provenance import read_in

CLIENT: Final = Client(
    id="claude-desktop",
    title="Claude Desktop",
    scopes=(user_file("{support}/Claude/claude_desktop_config.json", switch=NOWHERE),),
    shapes=(
        EntrySchema(
            field_names={Field.COMMAND: "command", Field.ARGS: "args", Field.ENV: "env"},
        ),
    ),
    speaks=frozenset({EntryTransport.STDIO}),
    provenance=read_in("mcp 2.3.0"),
)
