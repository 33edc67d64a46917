"""Nanocoder: an address without a transport is taken for a command; it has no SSE."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    REMOTE_WAYS,
    Client,
    ClientScope,
    EntryTransport,
    Field,
    Location,
    project_file,
)
from mcpyard.formats.presets import TRANSPORT, with_fields
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import ReferenceSyntax

_UPPER: Final = "[A-Z_][A-Z0-9_]*"

CLIENT: Final = Client(
    id="nanocoder",
    title="Nanocoder",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{config}/nanocoder/.mcp.json",),
                ("NANOCODER_CONFIG_DIR", ("{moved}/.mcp.json",)),
            ),
            switch=NOWHERE,
        ),
        project_file("{project}/.mcp.json", switch=NOWHERE),
    ),
    shapes=(
        replace(
            with_fields(TRANSPORT, {Field.CALL_TIMEOUT: "timeout"}),
            types={
                EntryTransport.STDIO: "stdio",
                EntryTransport.HTTP: "http",
                EntryTransport.REMOTE: "http",
                EntryTransport.WS: "websocket",
            },
            type_aliases={},
            type_needed=REMOTE_WAYS,
            others=frozenset({"alwaysAllow", "description", "enabled", "tags"}),
        ),
    ),
    bom=False,
    dialect=ReferenceSyntax(
        rf"\$\{{(?P<name>{_UPPER})(?::-(?P<default>[^}}]*))?\}}|\$(?P<bare>{_UPPER})",
        "${{{}}}",
        "${{{}:-{}}}",
    ),
    speaks=frozenset(
        {EntryTransport.STDIO, EntryTransport.HTTP, EntryTransport.WS, EntryTransport.REMOTE}
    ),
    provenance=ran("1.30.0"),
)
