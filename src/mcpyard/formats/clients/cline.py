"""Cline: a remote entry names its way in a word of its own, and times are in seconds.

An address without a type is SSE. Its own command writes entries whose launch stands one level
down, under `transport`; both forms are read.
"""

from typing import Final

from mcpyard.formats.facts import (
    REMOTE_WAYS,
    SECOND,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    Location,
    Unit,
    types_with_http,
    user_file,
)
from mcpyard.formats.provenance import ran

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
                Field.CWD: "cwd",
                Field.ENABLED: "disabled",
                Field.CALL_TIMEOUT: "timeout",
            },
            types=types_with_http("streamableHttp"),
            type_written=REMOTE_WAYS,
            also={
                "transport.type": Field.TYPE,
                "transport.command": Field.COMMAND,
                "transport.args": Field.ARGS,
                "transport.env": Field.ENV,
                "transport.cwd": Field.CWD,
                "transport.url": Field.URL,
                "transport.headers": Field.HEADERS,
            },
            url_ways={"url": EntryTransport.SSE, "transport.url": EntryTransport.SSE},
            units={"timeout": Unit(SECOND)},
        ),
    ),
    provenance=ran("3.0.65"),
)
