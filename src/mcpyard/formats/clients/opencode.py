"""OpenCode.

JSON with comments. The command is a list with the arguments in it, and every entry needs a type.
Version 2 moved the entries one level down, and turned `enabled` around. One bad entry keeps it
from reading its configuration at all. A reference has no default.
"""

from dataclasses import replace
from typing import Final

from mcpyard.formats.accepted import opencode, opencode_2
from mcpyard.formats.facts import (
    ALL_WAYS,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
)
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import ReferenceSyntax
from mcpyard.formats.value_facts import Alternate, Harm, Values, kinds

_TYPES: Final = {
    EntryTransport.STDIO: "local",
    EntryTransport.REMOTE: "remote",
    EntryTransport.HTTP: "remote",
    EntryTransport.SSE: "remote",
}
_WORDS: Final = {
    Field.TYPE: "type",
    Field.COMMAND: "command",
    Field.ARGS: "command",
    Field.ENV: "environment",
    Field.CWD: "cwd",
    Field.URL: "url",
    Field.HEADERS: "headers",
}
_OAUTH: Final = {
    Field.OAUTH_CLIENT_ID: "oauth.clientId",
    Field.OAUTH_CLIENT_SECRET: "oauth.clientSecret",
    Field.OAUTH_SCOPES: "oauth.scope",
    Field.OAUTH_CALLBACK_PORT: "oauth.callbackPort",
    Field.OAUTH_REDIRECT_URI: "oauth.redirectUri",
}
_OAUTH_2: Final = {
    Field.OAUTH_CLIENT_ID: "oauth.client_id",
    Field.OAUTH_CLIENT_SECRET: "oauth.client_secret",
    Field.OAUTH_SCOPES: "oauth.scope",
    Field.OAUTH_CALLBACK_PORT: "oauth.callback_port",
    Field.OAUTH_REDIRECT_URI: "oauth.redirect_uri",
}
_AS_VERSION_2: Final = Alternate(
    opencode_2.FACTS,
    (
        "disabled",
        "codemode",
        "oauth.client_id",
        "oauth.client_secret",
        "oauth.callback_port",
        "oauth.redirect_uri",
    ),
    objects=("timeout",),
)
_TIMEOUT_1: Final = {"timeout": Values(kinds("integer large point-zero"), Harm.FILE)}
"""Among entries of version 2, one of version 1 cannot have the times of version 2."""

_AS_VERSION_1: Final = Alternate(
    replace(
        opencode.FACTS,
        local={**opencode.FACTS.local, **_TIMEOUT_1},
        remote={**opencode.FACTS.remote, **_TIMEOUT_1},
    ),
    ("enabled",),
    kinds("true false"),
    unless="disabled",
    only=True,
)
_VERSION_1: Final = EntrySchema(
    keys=("mcp",),
    also={"disabled": Field.ENABLED},
    field_names={**_WORDS, Field.ENABLED: "enabled", Field.CALL_TIMEOUT: "timeout", **_OAUTH},
    spaced=frozenset({"oauth.scope"}),
    others=frozenset({"oauth"}),
    joined=True,
    types=_TYPES,
    type_needed=ALL_WAYS,
    type_written=ALL_WAYS,
    stubs=True,
    versions="1",
    accepts=replace(opencode.FACTS, alternate=_AS_VERSION_2),
)
_VERSION_2: Final = replace(
    _VERSION_1,
    keys=("mcp", "servers"),
    also={"enabled": Field.ENABLED},
    field_names={
        **_WORDS,
        Field.ENABLED: "disabled",
        Field.START_TIMEOUT: "timeout.startup",
        Field.CALL_TIMEOUT: "timeout.request",
        **_OAUTH_2,
    },
    versions="2",
    accepts=replace(opencode_2.FACTS, alternate=_AS_VERSION_1),
)

CLIENT: Final = Client(
    id="opencode",
    title="OpenCode",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
                added=("OPENCODE_CONFIG", ("{added}",)),
            ),
        ),
        ClientScope(
            "project",
            Location(
                (
                    "{project}/opencode.json",
                    "{project}/opencode.jsonc",
                    "{project}/.opencode/opencode.json",
                    "{project}/.opencode/opencode.jsonc",
                ),
                added=("OPENCODE_CONFIG_DIR", ("{added}/opencode.json", "{added}/opencode.jsonc")),
            ),
            hides=("user",),
        ),
    ),
    shapes=(_VERSION_1, _VERSION_2),
    format=FileFormat.JSONC,
    fragile=True,
    merges=True,
    dialect=ReferenceSyntax(
        r"\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\{file:[^}]*\}",
        "{{env:{}}}",
    ),
    provenance=ran("1.18.33"),
    included=r"\{file:(?P<path>[^}]+)\}",
)
