"""mcpyard itself, so that servers go into and out of the yard by the same code.

The project's servers are those of its `.mcp.json`; the user's are in no file.
"""

from typing import Final

from mcpyard.formats.facts import (
    USUAL_NAMES,
    USUAL_TYPES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
)
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import ReferenceSyntax

CLIENT: Final = Client(
    id="yard",
    title="mcpyard",
    aliases=("mcpyard",),
    scopes=(
        ClientScope("user", None),
        ClientScope("project", Location(("{project}/.mcp.json",))),
    ),
    shapes=(
        EntrySchema(
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.CWD: "cwd",
                Field.ENABLED: "enabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.START_TIMEOUT: "startTimeout",
                Field.ENV_VARS: "inherit",
                Field.OAUTH_CLIENT_ID: "oauth.clientId",
                Field.OAUTH_CLIENT_SECRET: "oauth.clientSecret",
                Field.OAUTH_CLIENT_METADATA: "oauth.metadataUrl",
            },
            also={
                "environment": Field.ENV,
                "transport": Field.TYPE,
                "start_timeout": Field.START_TIMEOUT,
                "disabled": Field.ENABLED,
            },
            joinable=True,
            types={**USUAL_TYPES, EntryTransport.REMOTE: "remote"},
            type_aliases={
                "local": EntryTransport.STDIO,
                "streamable-http": EntryTransport.HTTP,
                "streamable_http": EntryTransport.HTTP,
                "streamableHttp": EntryTransport.HTTP,
            },
        ),
    ),
    format=FileFormat.JSONC,
    dialect=ReferenceSyntax(
        r"\$(?P<literal>\$\{)"
        r"|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?|keyring:[^}]*)\}",
        "${{{}}}",
        "${{{}:-{}}}",
        (("${", "$${"),),
    ),
    provenance=read_in("this version"),
)
