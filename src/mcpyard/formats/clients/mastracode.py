"""Mastra Code: the usual words, and strict JSON.

References are replaced in addresses, headers and the environment only. The shared
`.mcp.json` of a folder counts before the file of the user. There is no switch in a file, and an
entry of both transports is passed over.
"""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import NOWHERE, Client, ClientScope, Field, Location, user_file
from mcpyard.formats.presets import PLAIN, with_fields
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import BRACES_OR_BARE

CLIENT: Final = Client(
    id="mastracode",
    title="Mastra Code",
    scopes=(
        user_file("{home}/.mastracode/mcp.json", switch=NOWHERE),
        ClientScope("project", Location(("{project}/.mcp.json",)), switch=NOWHERE, hides=("user",)),
        ClientScope(
            "local",
            Location(("{project}/.mastracode/mcp.json",)),
            switch=NOWHERE,
            hides=("user", "project"),
        ),
    ),
    shapes=(
        replace(
            with_fields(
                PLAIN,
                {
                    Field.OAUTH_CLIENT_ID: "oauth.clientId",
                    Field.OAUTH_CLIENT_SECRET: "oauth.clientSecret",
                    Field.OAUTH_SCOPES: "oauth.scopes",
                    Field.OAUTH_CALLBACK_PORT: "oauth.callbackPort",
                    Field.OAUTH_REDIRECT_URI: "oauth.redirectUrl",
                },
            ),
            others=frozenset({"oauth", "oauth.clientName"}),
        ),
    ),
    bom=False,
    dialect=BRACES_OR_BARE,
    literal_fields=frozenset(
        {
            Field.COMMAND,
            Field.ARGS,
            Field.OAUTH_CLIENT_ID,
            Field.OAUTH_CLIENT_SECRET,
            Field.OAUTH_REDIRECT_URI,
        }
    ),
    provenance=read_in("0.32.1"),
)
