"""Hermes: a map of servers in YAML 1.1, with times in seconds.

What is not `transport: sse` is streamable HTTP. A reference has no default.
"""

from typing import Final

from mcpyard.formats.facts import (
    SECOND,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    Unit,
)
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import VARIABLE, ReferenceSyntax

_SECONDS: Final = Unit(SECOND, whole=False)

CLIENT: Final = Client(
    id="hermes",
    title="Hermes",
    aliases=("hermes-agent",),
    scopes=(
        ClientScope(
            "user",
            Location(("{home}/.hermes/config.yaml",), ("HERMES_HOME", ("{moved}/config.yaml",))),
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("mcp_servers",),
            field_names={
                **USUAL_NAMES,
                Field.TYPE: "transport",
                Field.ENABLED: "enabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.START_TIMEOUT: "connect_timeout",
                Field.ONLY_TOOLS: "tools.include",
                Field.EXCEPT_TOOLS: "tools.exclude",
            },
            types={EntryTransport.SSE: "sse"},
            type_written=frozenset({EntryTransport.SSE}),
            units={"timeout": _SECONDS, "connect_timeout": _SECONDS},
            others=frozenset(
                {
                    "auth",
                    "client_cert",
                    "client_key",
                    "elicitation",
                    "keepalive_interval",
                    "lifecycle",
                    "oauth",
                    "sampling",
                    "skip_preflight",
                    "ssl_verify",
                    "supports_parallel_tool_calls",
                }
            ),
        ),
    ),
    format=FileFormat.YAML_1_1,
    dialect=ReferenceSyntax(rf"\$\{{(?:env:)?(?P<name>{VARIABLE})\}}", "${{{}}}"),
    provenance=ran("0.19.0"),
)
