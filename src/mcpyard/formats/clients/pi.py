"""Pi with its MCP adapter: three ways to write a reference, none with a default."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import Client, ClientScope, Field, FileFormat, Location, project_file
from mcpyard.formats.presets import PLAIN, with_fields
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import VARIABLE, ReferenceSyntax

CLIENT: Final = Client(
    id="pi",
    title="Pi",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{home}/.pi/agent/mcp.json",), ("PI_CODING_AGENT_DIR", ("{moved}/mcp.json",))
            ),
        ),
        project_file("{project}/.pi/mcp.json"),
    ),
    shapes=(
        replace(
            with_fields(
                PLAIN,
                {
                    Field.CWD: "cwd",
                    Field.BEARER: "bearerTokenEnv",
                    Field.ENABLED: "disabled",
                    Field.CALL_TIMEOUT: "requestTimeoutMs",
                    Field.ONLY_TOOLS: "includeTools",
                    Field.EXCEPT_TOOLS: "excludeTools",
                },
            ),
            others=frozenset({"auth", "bearerToken", "directTools", "lifecycle", "oauth"}),
        ),
    ),
    format=FileFormat.JSONC,
    dialect=ReferenceSyntax(
        rf"\$\{{(?P<name>{VARIABLE})\}}"
        rf"|(?:(?P<open>\{{)|\$)env:(?P<bare>{VARIABLE})(?(open)\}}|)",
        "${{{}}}",
    ),
    provenance=read_in("pi-mcp-adapter 2.36.0"),
)
