"""What Claude Code 2.1.325 accepts; written by `scripts/prove real_clients --write`."""

from typing import Final

from mcpyard.formats.value_facts import Harm, ValueFacts, Values, kinds

_BOTH: Final[dict[str, Values]] = {
    "timeout": Values(kinds("integer large point-zero")),
    "alwaysLoad": Values(kinds("false true")),
}

FACTS: Final = ValueFacts(
    version="2.1.325",
    entry=Values(kinds("members pairs")),
    local={
        **_BOTH,
        "command": Values(kinds("address text"), missing=Harm.ENTRY),
        "args": Values(kinds("empty-list texts")),
        "env": Values(kinds("empty-object pairs")),
        "type": Values(kinds("text"), texts=frozenset(["stdio"])),
    },
    remote={
        **_BOTH,
        "url": Values(kinds("address empty text"), missing=Harm.ENTRY),
        "headers": Values(kinds("empty-object pairs")),
        "headersHelper": Values(kinds("address empty text")),
        "oauth": Values(kinds("empty-object members pairs")),
        "oauth.clientId": Values(kinds("address empty text")),
        "oauth.callbackPort": Values(kinds("integer large point-zero")),
        "oauth.scopes": Values(kinds("address text")),
        "oauth.authServerMetadataUrl": Values(kinds("address")),
        "oauth.xaa": Values(kinds("false true")),
        "tools": Values(kinds("empty-list")),
        "toolPermissions": Values(kinds("empty-object")),
        "type": Values(
            kinds("text"),
            texts=frozenset(["http", "sse", "streamable-http", "ws"]),
            missing=Harm.ENTRY,
        ),
    },
    remote_types=frozenset(["http", "sse", "streamable-http", "ws"]),
    addresses=(),
)
