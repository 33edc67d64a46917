"""What Codex 0.166.0 accepts; written by `scripts/prove real_clients --write`."""

from typing import Final

from mcpyard.formats.value_facts import Harm, Needs, ValueFacts, Values, kinds

_BOTH: Final[dict[str, Values]] = {
    "bearer_token": Values(kinds(""), Harm.FILE),
    "environment_id": Values(kinds("address empty text"), Harm.FILE),
    "enabled": Values(kinds("false true"), Harm.FILE),
    "required": Values(kinds("false true"), Harm.FILE),
    "startup_timeout_sec": Values(kinds("fraction integer large point-zero zero"), Harm.FILE),
    "startup_timeout_ms": Values(kinds("integer large zero"), Harm.FILE),
    "tool_timeout_sec": Values(kinds("fraction integer large point-zero zero"), Harm.FILE),
    "supports_parallel_tool_calls": Values(kinds("false true"), Harm.FILE),
    "tool_input_schema_max_bytes": Values(kinds("integer large"), Harm.FILE),
    "enabled_tools": Values(kinds("empty-list texts"), Harm.FILE),
    "disabled_tools": Values(kinds("empty-list texts"), Harm.FILE),
    "scopes": Values(kinds("empty-list texts"), Harm.FILE),
    "name": Values(kinds("address empty text"), Harm.FILE),
    "tools": Values(kinds("empty-object members"), Harm.FILE),
    "tools.*": Values(kinds("empty-list empty-object members pairs"), Harm.FILE),
    "tools.*.output_token_limit": Values(kinds("integer large"), Harm.FILE),
    "default_tools_approval_mode": Values(
        kinds("text"), Harm.FILE, texts=frozenset(["approve", "auto", "prompt", "writes"])
    ),
    "tools.*.approval_mode": Values(
        kinds("text"), Harm.FILE, texts=frozenset(["approve", "auto", "prompt", "writes"])
    ),
    "omit_tools_from": Values(kinds("empty-list texts"), Harm.FILE),
    "omit_tools_from[]": Values(
        kinds("text"), Harm.FILE, texts=frozenset(["code_mode", "deferred", "direct"])
    ),
    "startup_readiness": Values(
        kinds("text"), Harm.FILE, texts=frozenset(["catalog", "connection"])
    ),
}

FACTS: Final = ValueFacts(
    version="0.166.0",
    entry=Values(kinds("members pairs"), Harm.FILE),
    local={
        **_BOTH,
        "command": Values(kinds("address empty text"), Harm.FILE, missing=Harm.FILE),
        "args": Values(kinds("empty-list texts"), Harm.FILE),
        "env": Values(kinds("empty-object pairs"), Harm.FILE),
        "cwd": Values(kinds("address empty text"), Harm.FILE),
        "url": Values(kinds(""), Harm.FILE),
        "bearer_token_env_var": Values(kinds(""), Harm.FILE),
        "http_headers": Values(kinds(""), Harm.FILE),
        "env_http_headers": Values(kinds(""), Harm.FILE),
        "http_headers_helper": Values(kinds(""), Harm.FILE),
        "oauth_resource": Values(kinds(""), Harm.FILE),
        "env_vars": Values(kinds("empty-list objects texts"), Harm.FILE),
        "env_vars[]": Values(kinds("address empty empty-object pairs text"), Harm.FILE),
        "env_vars[].name": Values(kinds("address empty text"), Harm.FILE, missing=Harm.FILE),
        "oauth": Values(kinds(""), Harm.FILE),
        "auth": Values(kinds(""), Harm.FILE),
        "env_vars[].source": Values(kinds("text"), Harm.FILE, texts=frozenset(["local", "remote"])),
    },
    remote={
        **_BOTH,
        "command": Values(kinds(""), Harm.FILE),
        "args": Values(kinds(""), Harm.FILE),
        "env": Values(kinds(""), Harm.FILE),
        "cwd": Values(kinds(""), Harm.FILE),
        "url": Values(kinds("address empty text"), Harm.FILE, missing=Harm.FILE),
        "bearer_token_env_var": Values(kinds("address empty text"), Harm.FILE),
        "http_headers": Values(kinds("empty-object pairs"), Harm.FILE),
        "env_http_headers": Values(kinds("empty-object pairs"), Harm.FILE),
        "http_headers_helper": Values(kinds("address text"), Harm.FILE),
        "oauth_resource": Values(kinds("address empty text"), Harm.FILE),
        "env_vars": Values(kinds(""), Harm.FILE),
        "oauth": Values(kinds("empty-list empty-object members pairs texts"), Harm.FILE),
        "oauth.client_id": Values(kinds("address empty text"), Harm.FILE),
        "oauth.client_secret": Values(kinds("address text"), Harm.FILE),
        "oauth.callback_url": Values(kinds("address empty text"), Harm.FILE),
        "oauth.callback_port": Values(kinds("integer zero"), Harm.FILE),
        "auth": Values(kinds("text"), Harm.FILE, texts=frozenset(["chatgpt", "ema_auth", "oauth"])),
        "oauth.token_endpoint_auth_method": Values(
            kinds("text"), Harm.FILE, texts=frozenset(["client_secret_basic", "client_secret_post"])
        ),
        "oauth.authorization_server_issuer": Values(kinds("address empty text"), Harm.FILE),
    },
    needs=(
        Needs("oauth.client_secret", "oauth.client_id", Harm.FILE),
        Needs("oauth.token_endpoint_auth_method", "oauth.client_secret", Harm.FILE),
        Needs("oauth.token_endpoint_auth_method", "auth", Harm.FILE, "ema_auth"),
        Needs("oauth.authorization_server_issuer", "auth", Harm.FILE, "ema_auth"),
    ),
    off=(("auth", "ema_auth"),),
)
