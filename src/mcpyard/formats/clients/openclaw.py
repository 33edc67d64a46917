"""OpenClaw: servers one level down in its only file; an address says its transport."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    REMOTE_WAYS,
    Client,
    EntryTransport,
    Field,
    FileFormat,
    user_file,
)
from mcpyard.formats.presets import TRANSPORT, with_fields
from mcpyard.formats.provenance import ran

CLIENT: Final = Client(
    id="openclaw",
    title="OpenClaw",
    scopes=(user_file("{home}/.openclaw/openclaw.json", switch=NOWHERE),),
    shapes=(
        replace(
            with_fields(TRANSPORT, {Field.CWD: "cwd"}),
            keys=("mcp", "servers"),
            types={
                EntryTransport.SSE: "sse",
                EntryTransport.HTTP: "streamable-http",
                EntryTransport.REMOTE: "streamable-http",
            },
            type_aliases={},
            type_written=REMOTE_WAYS,
        ),
    ),
    format=FileFormat.JSONC,
    provenance=ran("2026.9.6"),
)
