"""Kilo: the files and the shape of OpenCode 1, under a name of its own; `cwd` is not used."""

from typing import Final

from mcpyard.formats.facts import (
    ALL_WAYS,
    Client,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    project_file,
    user_file,
)
from mcpyard.formats.presets import known
from mcpyard.formats.provenance import DOCUMENTED, ran
from mcpyard.formats.reference_syntax import ReferenceSyntax

CLIENT: Final = Client(
    id="kilo",
    title="Kilo",
    aliases=("kilocode",),
    scopes=(
        user_file("{config}/kilo/kilo.json", "{config}/kilo/kilo.jsonc"),
        known(DOCUMENTED, project_file("{project}/kilo.json", "{project}/kilo.jsonc")),
    ),
    shapes=(
        EntrySchema(
            keys=("mcp",),
            field_names={
                Field.TYPE: "type",
                Field.COMMAND: "command",
                Field.ARGS: "command",
                Field.ENV: "environment",
                Field.URL: "url",
                Field.HEADERS: "headers",
                Field.ENABLED: "enabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.OAUTH_CLIENT_ID: "oauth.clientId",
                Field.OAUTH_CLIENT_SECRET: "oauth.clientSecret",
                Field.OAUTH_SCOPES: "oauth.scope",
                Field.OAUTH_CALLBACK_PORT: "oauth.callbackPort",
                Field.OAUTH_REDIRECT_URI: "oauth.redirectUri",
            },
            spaced=frozenset({"oauth.scope"}),
            others=frozenset({"oauth"}),
            joined=True,
            types={
                EntryTransport.STDIO: "local",
                **dict.fromkeys(
                    (EntryTransport.REMOTE, EntryTransport.HTTP, EntryTransport.SSE), "remote"
                ),
            },
            type_needed=ALL_WAYS,
            type_written=ALL_WAYS,
            stubs=True,
        ),
    ),
    format=FileFormat.JSONC,
    fragile=True,
    merges=True,
    dialect=ReferenceSyntax(
        r"\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\{file:[^}]*\}", "{{env:{}}}"
    ),
    provenance=ran("7.7.7"),
)
