"""Trae: the user's servers among its settings, those of a project in its folder."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, project_file, user_file
from mcpyard.formats.presets import PLAIN, known
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="trae",
    title="Trae",
    scopes=(
        user_file("{support}/Trae/User/mcp.json", switch=NOWHERE),
        known(SEEN_IN_FILES, project_file("{project}/.trae/mcp.json", switch=NOWHERE)),
    ),
    shapes=(PLAIN,),
)
