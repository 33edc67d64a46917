"""What OpenCode (schema 2) 1.18.33 accepts; written by `scripts/prove real_clients --write`."""

from typing import Final

from mcpyard.formats.value_facts import Harm, ValueFacts, Values, kinds

_BOTH: Final[dict[str, Values]] = {
    "enabled": Values(kinds("false true"), Harm.FILE),
    "disabled": Values(kinds("false true")),
    "codemode": Values(kinds("false true")),
    "timeout": Values(kinds("empty-object members pairs")),
    "timeout.startup": Values(kinds("integer large point-zero")),
    "timeout.catalog": Values(kinds("integer large point-zero")),
    "timeout.execution": Values(kinds("integer large point-zero")),
}

FACTS: Final = ValueFacts(
    version="1.18.33",
    entry=Values(kinds("members pairs")),
    local={
        **_BOTH,
        "command": Values(kinds("texts"), missing=Harm.ENTRY),
        "environment": Values(kinds("empty-object pairs")),
        "cwd": Values(kinds("address empty text")),
        "type": Values(kinds("text"), texts=frozenset(["local"]), missing=Harm.ENTRY),
    },
    remote={
        **_BOTH,
        "url": Values(kinds("address empty text"), missing=Harm.ENTRY),
        "headers": Values(kinds("empty-object pairs")),
        "oauth": Values(kinds("empty-object false members pairs")),
        "oauth.client_id": Values(kinds("address empty text")),
        "oauth.client_secret": Values(kinds("address empty text")),
        "oauth.scope": Values(kinds("address empty text")),
        "oauth.callback_port": Values(kinds("integer point-zero")),
        "oauth.redirect_uri": Values(kinds("address empty text")),
        "type": Values(kinds("text"), texts=frozenset(["remote"]), missing=Harm.ENTRY),
    },
    remote_types=frozenset(["remote"]),
    addresses=(),
    rescued_by="enabled",
)
