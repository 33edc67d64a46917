"""Qoder CLI: settings of the user and of the project, and the project's `.mcp.json` above both."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    ALL_WAYS,
    USUAL_TYPES,
    Client,
    ClientScope,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    user_file,
)
from mcpyard.formats.presets import TYPED, with_fields
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import BRACES_OR_BARE

CLIENT: Final = Client(
    id="qoder",
    title="Qoder CLI",
    aliases=("qodercli",),
    scopes=(
        user_file("{home}/.qoder/settings.json"),
        ClientScope("local", Location(("{project}/.qoder/settings.local.json",)), hides=("user",)),
        ClientScope("project", Location(("{project}/.mcp.json",)), hides=("user", "local")),
    ),
    shapes=(
        replace(
            with_fields(
                TYPED,
                {
                    Field.CWD: "cwd",
                    Field.ENABLED: "disabled",
                    Field.OAUTH_CLIENT_ID: "oauth.clientId",
                    Field.OAUTH_CLIENT_SECRET: "oauth.clientSecret",
                    Field.OAUTH_SCOPES: "oauth.scopes",
                    Field.OAUTH_CALLBACK_PORT: "oauth.callbackPort",
                    Field.OAUTH_REDIRECT_URI: "oauth.redirectUri",
                },
            ),
            types={**USUAL_TYPES, EntryTransport.WS: "ws"},
        ),
    ),
    format=FileFormat.JSONC,
    dialect=BRACES_OR_BARE,
    speaks=ALL_WAYS,
    provenance=ran("1.1.52"),
)
