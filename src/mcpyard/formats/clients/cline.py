"""Cline: a remote entry names its way in a word of its own, and times are in seconds."""

from typing import Final

from mcpyard.formats.facts import (
    REMOTE_WAYS,
    SECOND,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    Field,
    Location,
    Unit,
    types_with_http,
    user_file,
)

_EXTENSION: Final = "{support}/Code/User/globalStorage/saoudrizwan.claude-dev"

CLIENT: Final = Client(
    id="cline",
    title="Cline",
    scopes=(
        user_file(f"{_EXTENSION}/settings/cline_mcp_settings.json"),
        ClientScope(
            "cli",
            Location(
                ("{home}/.cline/data/settings/cline_mcp_settings.json",),
                ("CLINE_DIR", ("{moved}/data/settings/cline_mcp_settings.json",)),
            ),
        ),
    ),
    shapes=(
        EntrySchema(
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
            },
            types=types_with_http("streamableHttp"),
            type_written=REMOTE_WAYS,
            units={"timeout": Unit(SECOND)},
        ),
    ),
)
