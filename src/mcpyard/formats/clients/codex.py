"""Codex.

TOML. References to variables have fields of their own instead of a dialect: `env_vars`,
`env_http_headers`, `bearer_token_env_var`. One bad entry keeps it from reading its configuration
at all, and fields it does not know are passed over without a word, `headers` and `type` among them.
"""

from typing import Final

from mcpyard.formats.accepted import codex
from mcpyard.formats.facts import (
    PROJECT,
    SECOND,
    Client,
    ClientScope,
    Condition,
    Effective,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    Match,
    NameRule,
    Rule,
    Unit,
)
from mcpyard.formats.provenance import ran

_SECONDS: Final = Unit(SECOND, whole=False)
_OWN_FILE: Final = Location(
    ("{home}/.codex/config.toml",), ("CODEX_HOME", ("{moved}/config.toml",))
)
_UNTRUSTED: Final = Rule(
    Effective.UNTRUSTED,
    "the project is not trusted in Codex, so its file is not read",
    opens=(
        Condition(Match.SAYS, ("projects", PROJECT, "trust_level"), (_OWN_FILE,), ("trusted",)),
    ),
    unread=True,
)

CLIENT: Final = Client(
    id="codex",
    title="Codex",
    scopes=(
        ClientScope("user", _OWN_FILE),
        ClientScope(
            "project",
            Location(("{project}/.codex/config.toml",)),
            trust="Codex reads project files only in trusted projects",
            rules=(_UNTRUSTED,),
            hides=("user",),
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("mcp_servers",),
            field_names={
                Field.COMMAND: "command",
                Field.ARGS: "args",
                Field.CWD: "cwd",
                Field.URL: "url",
                Field.BEARER: "bearer_token_env_var",
                Field.ENABLED: "enabled",
                Field.START_TIMEOUT: "startup_timeout_sec",
                Field.CALL_TIMEOUT: "tool_timeout_sec",
                Field.ONLY_TOOLS: "enabled_tools",
                Field.EXCEPT_TOOLS: "disabled_tools",
                Field.ENV_VARS: "env_vars",
                Field.ENV: "env",
                Field.HEADERS: "http_headers",
                Field.ENV_HEADERS: "env_http_headers",
                Field.OAUTH_SCOPES: "scopes",
                Field.OAUTH_CLIENT_ID: "oauth.client_id",
                Field.OAUTH_CLIENT_SECRET: "oauth.client_secret",
                Field.OAUTH_CALLBACK_PORT: "oauth.callback_port",
                Field.OAUTH_REDIRECT_URI: "oauth.callback_url",
            },
            others=frozenset(
                {
                    "auth",
                    "oauth",
                    "oauth.authorization_server_issuer",
                    "oauth.token_endpoint_auth_method",
                    "oauth_resource",
                }
            ),
            also={"startup_timeout_ms": Field.START_TIMEOUT},
            exclusive=True,
            units={"startup_timeout_sec": _SECONDS, "tool_timeout_sec": _SECONDS},
            versions="0.166",
            accepts=codex.FACTS,
        ),
    ),
    format=FileFormat.TOML,
    fragile=True,
    merges=True,
    speaks=frozenset({EntryTransport.STDIO, EntryTransport.HTTP, EntryTransport.REMOTE}),
    names=NameRule(r"[A-Za-z0-9_:@/.-]+", says="letters, digits and - _ : @ / ."),
    provenance=ran("0.166.0"),
)
