"""Amp: one flat key with a dot in it, among all other settings."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    FileFormat,
    Location,
)

CLIENT: Final = Client(
    id="amp",
    title="Amp",
    scopes=(
        ClientScope("user", Location(("{config}/amp/settings.json",)), switch=NOWHERE),
        ClientScope(
            "project", Location(("{project}/.amp/settings.json",)), switch=NOWHERE, hides=("user",)
        ),
    ),
    shapes=(EntrySchema(keys=("amp.mcpServers",), field_names=USUAL_NAMES),),
    format=FileFormat.JSONC,
)
