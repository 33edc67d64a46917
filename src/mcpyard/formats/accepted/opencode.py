"""What OpenCode 1.18.33 accepts; written by `scripts/prove real_clients --write`."""

from typing import Final

from mcpyard.formats.value_facts import Harm, ValueFacts, Values, all_but, kinds

_BOTH: Final[dict[str, Values]] = {
    "enabled": Values(kinds("false true"), Harm.FILE),
    "timeout": Values(kinds("empty-object integer large members pairs point-zero"), Harm.FILE),
}

FACTS: Final = ValueFacts(
    version="1.18.33",
    entry=Values(kinds("members pairs"), Harm.FILE),
    local={
        **_BOTH,
        "command": Values(
            kinds("texts"), missing=Harm.FILE, worse=all_but("empty-list other texts")
        ),
        "environment": Values(kinds("empty-object pairs"), Harm.FILE),
        "cwd": Values(kinds("address empty text"), Harm.FILE),
        "type": Values(kinds("text"), Harm.FILE, texts=frozenset(["local"]), missing=Harm.FILE),
    },
    remote={
        **_BOTH,
        "url": Values(kinds("address empty text"), Harm.FILE, missing=Harm.FILE),
        "headers": Values(kinds("empty-object pairs"), Harm.FILE),
        "oauth": Values(kinds("empty-object false members pairs"), Harm.FILE),
        "oauth.clientId": Values(kinds("address empty text"), Harm.FILE),
        "oauth.clientSecret": Values(kinds("address empty text"), Harm.FILE),
        "oauth.scope": Values(kinds("address empty text"), Harm.FILE),
        "oauth.callbackPort": Values(kinds("integer point-zero"), Harm.FILE),
        "oauth.redirectUri": Values(kinds("address empty text"), Harm.FILE),
        "type": Values(kinds("text"), Harm.FILE, texts=frozenset(["remote"]), missing=Harm.FILE),
    },
    remote_types=frozenset(["remote"]),
    addresses=(),
    rescued_by="enabled",
)
