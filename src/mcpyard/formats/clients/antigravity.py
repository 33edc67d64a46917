"""Antigravity: an address stands under `serverUrl`; it began as a copy of Windsurf."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, Field, project_file, user_file
from mcpyard.formats.presets import PLAIN, known, with_fields
from mcpyard.formats.provenance import SEEN_IN_FILES

CLIENT: Final = Client(
    id="antigravity",
    title="Antigravity",
    scopes=(
        user_file(
            "{home}/.gemini/config/mcp_config.json",
            "{home}/.gemini/antigravity/mcp_config.json",
            switch=NOWHERE,
        ),
        known(SEEN_IN_FILES, project_file("{project}/.agents/mcp_config.json", switch=NOWHERE)),
    ),
    shapes=(
        replace(
            with_fields(PLAIN, {Field.URL: "serverUrl", Field.EXCEPT_TOOLS: "disabledTools"}),
            others=frozenset({"oauth"}),
        ),
    ),
)
