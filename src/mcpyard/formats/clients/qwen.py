"""Qwen Code.

An address under `httpUrl` is streamable HTTP, one under `url` is SSE. It began as a copy of Gemini
CLI, but switches a server off by the list of the excluded ones, in the same file.
"""

from typing import Final

from mcpyard.formats.facts import (
    FOLDED_NAME,
    USUAL_NAMES,
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
    Rule,
    Switch,
    SwitchKind,
)
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import BRACES_OR_BARE

_SETTINGS: Final = (
    Location(("{project}/.qwen/settings.json",)),
    Location(("{home}/.qwen/settings.json",)),
)
_SWITCH: Final = Switch(SwitchKind.LIST, off=("mcp", "excluded"))
_GATES: Final = (
    Rule(
        Effective.DISABLED,
        "is excluded in the settings of Qwen Code",
        shuts=(Condition(Match.NAMED, ("mcp", "excluded"), _SETTINGS),),
    ),
    Rule(
        Effective.BLOCKED,
        "is not in the allow list of the Qwen Code settings",
        shuts=(Condition(Match.UNNAMED, ("mcp", "allowed"), _SETTINGS),),
    ),
)

CLIENT: Final = Client(
    id="qwen",
    title="Qwen Code",
    scopes=(
        ClientScope("user", _SETTINGS[1], switch=_SWITCH, rules=_GATES),
        ClientScope("project", _SETTINGS[0], switch=_SWITCH, rules=_GATES, hides=("user",)),
    ),
    shapes=(
        EntrySchema(
            field_names={
                **USUAL_NAMES,
                Field.URL: "httpUrl",
                Field.CWD: "cwd",
                Field.CALL_TIMEOUT: "timeout",
                Field.ONLY_TOOLS: "includeTools",
                Field.EXCEPT_TOOLS: "excludeTools",
            },
            also={"url": Field.URL},
            url_ways={"httpUrl": EntryTransport.HTTP, "url": EntryTransport.SSE},
            versions="0.15",
        ),
    ),
    format=FileFormat.JSONC,
    bom=False,
    trailing_commas=False,
    dialect=BRACES_OR_BARE,
    names=FOLDED_NAME,
    provenance=ran("0.24.4"),
)
