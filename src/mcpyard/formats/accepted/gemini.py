"""What Gemini CLI 0.61.0 accepts; written by `scripts/prove real_clients --write`."""

from typing import Final

from mcpyard.formats.value_facts import Harm, ValueFacts, Values, all_but, kinds

_BOTH: Final[dict[str, Values]] = {}

FACTS: Final = ValueFacts(
    version="0.61.0",
    entry=Values(kinds("members pairs"), worse=kinds("null")),
    local={
        **_BOTH,
        "command": Values(kinds("text"), missing=Harm.ENTRY),
        "args": Values(kinds("empty-list items null objects texts")),
        "env": Values(all_but("items members objects other")),
        "cwd": Values(kinds("empty null text")),
        "timeout": Values(kinds("fraction integer null point-zero")),
    },
    remote={
        **_BOTH,
        "url": Values(kinds("address")),
        "httpUrl": Values(kinds("address empty false null zero")),
        "headers": Values(all_but("items members objects other")),
        "timeout": Values(kinds("fraction integer null point-zero")),
    },
    addresses=("httpUrl", "url"),
    address_first=True,
)
