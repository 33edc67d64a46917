"""Warp: the folder of a server is its `working_directory`."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, Field, project_file, user_file
from mcpyard.formats.presets import PLAIN, known, with_fields
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="warp",
    title="Warp",
    scopes=(
        user_file("{home}/.warp/.mcp.json", switch=NOWHERE),
        known(SEEN_IN_FILES, project_file("{project}/.warp/.mcp.json", switch=NOWHERE)),
    ),
    shapes=(with_fields(PLAIN, {Field.CWD: "working_directory"}),),
)
