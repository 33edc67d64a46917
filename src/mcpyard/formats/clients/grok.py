"""Grok Build: tables as in Codex, with the words of others; a list switches servers off too."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    SECOND,
    Client,
    ClientScope,
    Condition,
    Effective,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    Match,
    Rule,
    Unit,
)
from mcpyard.formats.presets import TYPED, with_fields
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import BRACES_OR_BARE

_OWN_FILE: Final = Location(("{home}/.grok/config.toml",))
_OFF: Final = Rule(
    Effective.DISABLED,
    "is in disabled_mcp_servers of the Grok Build configuration",
    shuts=(Condition(Match.NAMED, ("disabled_mcp_servers",), (_OWN_FILE,)),),
)

CLIENT: Final = Client(
    id="grok",
    title="Grok Build",
    scopes=(
        ClientScope("user", _OWN_FILE, rules=(_OFF,)),
        ClientScope(
            "project", Location(("{project}/.grok/config.toml",)), rules=(_OFF,), hides=("user",)
        ),
    ),
    shapes=(
        replace(
            with_fields(
                TYPED,
                {
                    Field.CWD: "cwd",
                    Field.ENABLED: "enabled",
                    Field.START_TIMEOUT: "startup_timeout_sec",
                    Field.CALL_TIMEOUT: "tool_timeout_sec",
                },
            ),
            keys=("mcp_servers",),
            type_aliases={},
            type_written=frozenset({EntryTransport.SSE}),
            units={"startup_timeout_sec": Unit(SECOND), "tool_timeout_sec": Unit(SECOND)},
        ),
    ),
    format=FileFormat.TOML,
    dialect=BRACES_OR_BARE,
    provenance=ran("1.0.41"),
)
