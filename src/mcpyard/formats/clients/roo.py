"""Roo Code: a remote entry needs a type, and times are in seconds."""

from typing import Final

from mcpyard.formats.facts import (
    REMOTE_WAYS,
    SECOND,
    USUAL_NAMES,
    Client,
    EntrySchema,
    Field,
    Unit,
    project_file,
    types_with_http,
    user_file,
)
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import ENV_BRACES

_EXTENSION: Final = "{support}/Code/User/globalStorage/rooveterinaryinc.roo-cline"

CLIENT: Final = Client(
    id="roo",
    title="Roo Code",
    scopes=(
        user_file(f"{_EXTENSION}/settings/mcp_settings.json"),
        project_file("{project}/.roo/mcp.json"),
    ),
    shapes=(
        EntrySchema(
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.CWD: "cwd",
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.EXCEPT_TOOLS: "disabledTools",
            },
            types=types_with_http("streamable-http"),
            type_needed=REMOTE_WAYS,
            type_written=REMOTE_WAYS,
            units={"timeout": Unit(SECOND)},
        ),
    ),
    dialect=ENV_BRACES,
    provenance=read_in("commit 022b3b0"),
)
