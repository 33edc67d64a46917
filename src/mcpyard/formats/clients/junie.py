"""Junie: the usual words, in a folder of its own."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, project_file, user_file
from mcpyard.formats.presets import PLAIN, known
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="junie",
    title="Junie",
    scopes=(
        user_file("{home}/.junie/mcp/mcp.json", switch=NOWHERE),
        known(SEEN_IN_FILES, project_file("{project}/.junie/mcp/mcp.json", switch=NOWHERE)),
    ),
    shapes=(PLAIN,),
)
