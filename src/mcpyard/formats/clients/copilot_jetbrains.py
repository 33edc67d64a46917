"""GitHub Copilot in the JetBrains programs: the shape of VS Code in a file of its own."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, user_file
from mcpyard.formats.presets import TYPED

CLIENT: Final = Client(
    id="copilot-jetbrains",
    title="Copilot for JetBrains",
    scopes=(user_file("{config}/github-copilot/intellij/mcp.json", switch=NOWHERE),),
    shapes=(replace(TYPED, keys=("servers",)),),
)
