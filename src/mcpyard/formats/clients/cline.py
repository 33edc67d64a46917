"""Cline: a remote entry names its way in a word of its own, and times are in seconds."""

from typing import Final

from mcpyard.formats.facts import (
    REMOTE_WAYS,
    SECOND,
    USUAL_WORDS,
    Client,
    ClientScope,
    Field,
    Location,
    Shape,
    Unit,
    Way,
)

_EXTENSION: Final = "{support}/Code/User/globalStorage/saoudrizwan.claude-dev"

CLIENT: Final = Client(
    id="cline",
    title="Cline",
    scopes=(
        ClientScope(
            "user",
            Location((f"{_EXTENSION}/settings/cline_mcp_settings.json",)),
        ),
        ClientScope(
            "cli",
            Location(
                ("{home}/.cline/data/settings/cline_mcp_settings.json",),
                ("CLINE_DIR", ("{moved}/data/settings/cline_mcp_settings.json",)),
            ),
        ),
    ),
    shapes=(
        Shape(
            keys=("mcpServers",),
            words={
                Field.TYPE: "type",
                **USUAL_WORDS,
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
            },
            opposite=frozenset({"disabled"}),
            types={
                Way.STDIO: "stdio",
                Way.HTTP: "streamableHttp",
                Way.SSE: "sse",
                Way.REMOTE: "streamableHttp",
            },
            type_written=REMOTE_WAYS,
            units={"timeout": Unit(SECOND)},
        ),
    ),
)
