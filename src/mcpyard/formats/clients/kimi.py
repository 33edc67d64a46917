"""Kimi Code: strict JSON, in which one bad entry costs all; it reads the shared `.mcp.json` too."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import Client, ClientScope, Field, Location
from mcpyard.formats.presets import TRANSPORT, with_fields
from mcpyard.formats.provenance import ran

CLIENT: Final = Client(
    id="kimi",
    title="Kimi Code",
    aliases=("kimi-code",),
    scopes=(
        ClientScope(
            "user",
            Location(("{home}/.kimi-code/mcp.json",), ("KIMI_CODE_HOME", ("{moved}/mcp.json",))),
        ),
        ClientScope("project", Location(("{project}/.mcp.json",)), hides=("user",)),
        ClientScope(
            "local", Location(("{project}/.kimi-code/mcp.json",)), hides=("user", "project")
        ),
    ),
    shapes=(
        replace(
            with_fields(
                TRANSPORT,
                {
                    Field.CWD: "cwd",
                    Field.BEARER: "bearerTokenEnvVar",
                    Field.ENABLED: "enabled",
                    Field.START_TIMEOUT: "startupTimeoutMs",
                    Field.CALL_TIMEOUT: "toolTimeoutMs",
                    Field.ONLY_TOOLS: "enabledTools",
                    Field.EXCEPT_TOOLS: "disabledTools",
                },
            ),
            type_aliases={},
            others=frozenset({"auth", "executor"}),
        ),
    ),
    bom=False,
    fragile=True,
    provenance=ran("2.1.0"),
)
