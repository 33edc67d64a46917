"""Rovo Dev: an address says its `transport`; which servers are off stands in its settings."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, Field, project_file, user_file
from mcpyard.formats.presets import TRANSPORT, known
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="rovodev",
    title="Rovo Dev",
    scopes=(
        user_file("{home}/.rovodev/mcp.json", switch=NOWHERE),
        known(SEEN_IN_FILES, project_file("{project}/.rovodev/mcp.json", switch=NOWHERE)),
    ),
    shapes=(replace(TRANSPORT, also={"type": Field.TYPE}),),
)
