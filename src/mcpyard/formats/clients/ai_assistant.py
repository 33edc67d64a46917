"""AI Assistant of the JetBrains programs: a file of the project only."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, ClientScope, Location
from mcpyard.formats.presets import PLAIN
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="ai-assistant",
    title="AI Assistant",
    scopes=(ClientScope("project", Location(("{project}/.ai/mcp/mcp.json",)), switch=NOWHERE),),
    shapes=(PLAIN,),
    provenance=SEEN_IN_FILES,
)
