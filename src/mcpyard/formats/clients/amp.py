"""Amp: one flat key with a dot in it, among all other settings."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    USUAL_WORDS,
    Client,
    ClientScope,
    Format,
    Location,
    Shape,
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
    shapes=(Shape(keys=("amp.mcpServers",), words=USUAL_WORDS),),
    format=Format.JSONC,
)
