"""Mastra Code: the usual words and no more."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, project_file, user_file
from mcpyard.formats.presets import PLAIN, known
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="mastracode",
    title="Mastra Code",
    scopes=(
        user_file("{home}/.mastracode/mcp.json", switch=NOWHERE),
        known(SEEN_IN_FILES, project_file("{project}/.mastracode/mcp.json", switch=NOWHERE)),
    ),
    shapes=(PLAIN,),
)
