"""Amp: one flat key with a dot in it, among all other settings."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    USUAL_NAMES,
    Client,
    EntrySchema,
    FileFormat,
    project_file,
    user_file,
)
from mcpyard.formats.provenance import ran

CLIENT: Final = Client(
    id="amp",
    title="Amp",
    scopes=(
        user_file("{config}/amp/settings.json", switch=NOWHERE),
        project_file("{project}/.amp/settings.json", switch=NOWHERE),
    ),
    shapes=(EntrySchema(keys=("amp.mcpServers",), field_names=USUAL_NAMES),),
    format=FileFormat.JSONC,
    provenance=ran("0.0.1790142911"),
)
