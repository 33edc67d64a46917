"""LM Studio: one file of the user's."""

from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, user_file
from mcpyard.formats.presets import PLAIN

CLIENT: Final = Client(
    id="lmstudio",
    title="LM Studio",
    aliases=("lm-studio",),
    scopes=(user_file("{home}/.lmstudio/mcp.json", switch=NOWHERE),),
    shapes=(PLAIN,),
)
