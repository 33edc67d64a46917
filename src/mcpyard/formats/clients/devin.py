"""Devin, which was Windsurf: an address may still stand under `serverUrl`."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import Client, Field, project_file, user_file
from mcpyard.formats.presets import TRANSPORT, known, with_fields
from mcpyard.formats.provenance import SEEN_IN_FILES
from mcpyard.formats.reference_syntax import ENV_BRACES

CLIENT: Final = Client(
    id="devin",
    title="Devin",
    scopes=(
        user_file("{config}/devin/mcp_config.json"),
        known(SEEN_IN_FILES, project_file("{project}/.devin/mcp_config.json")),
    ),
    shapes=(
        replace(
            with_fields(
                TRANSPORT, {Field.ENABLED: "disabled", Field.EXCEPT_TOOLS: "disabledTools"}
            ),
            also={"serverUrl": Field.URL},
        ),
    ),
    dialect=ENV_BRACES,
)
