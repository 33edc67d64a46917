"""What Copilot CLI 1.0.102 accepts; written by `scripts/prove real_clients --write`."""

from typing import Final

from mcpyard.formats.value_facts import Harm, Needs, ValueFacts, Values, kinds

_BOTH: Final[dict[str, Values]] = {
    "tools": Values(kinds("empty-list texts")),
    "timeout": Values(kinds("integer large point-zero")),
    "disabled": Values(kinds("false true")),
    "filterMapping": Values(
        kinds("empty-object text"), texts=frozenset(["hidden_characters", "markdown", "none"])
    ),
}

FACTS: Final = ValueFacts(
    version="1.0.102",
    entry=Values(kinds("members pairs")),
    local={
        **_BOTH,
        "command": Values(kinds("address empty text"), missing=Harm.ENTRY),
        "args": Values(kinds("empty-list texts")),
        "env": Values(kinds("empty-object pairs")),
        "cwd": Values(kinds("address empty text")),
        "type": Values(kinds("text"), texts=frozenset(["local", "stdio"])),
    },
    remote={
        **_BOTH,
        "url": Values(kinds("address"), missing=Harm.ENTRY),
        "headers": Values(kinds("empty-object pairs")),
        "oauthClientId": Values(kinds("address empty text")),
        "oauthScopes": Values(kinds("texts")),
        "type": Values(kinds("text"), texts=frozenset(["http", "sse", "streamable-http"])),
    },
    remote_types=frozenset(["http", "sse", "streamable-http"]),
    local_types=frozenset(["local", "stdio"]),
    needs=(Needs("oauthScopes", "oauthClientId", Harm.ENTRY),),
)
