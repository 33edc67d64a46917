"""GitHub Copilot CLI.

`disabled` in an entry is kept and not honoured; a list in its settings is the real switch. Its
list of tools names all of them by a star.
"""

from typing import Final

from mcpyard.formats.facts import (
    BRACES,
    REMOTE_WAYS,
    USUAL_TYPES,
    USUAL_WORDS,
    Client,
    ClientScope,
    Field,
    Format,
    Location,
    Shape,
    Switch,
    SwitchKind,
    Way,
)

_SWITCH: Final = Switch(
    SwitchKind.LIST,
    file=Location(("{home}/.copilot/settings.json",), ("COPILOT_HOME", ("{moved}/settings.json",))),
    off=("disabledMcpServers",),
)

CLIENT: Final = Client(
    id="copilot",
    title="Copilot CLI",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{home}/.copilot/mcp-config.json",),
                ("COPILOT_HOME", ("{moved}/mcp-config.json",)),
            ),
            switch=_SWITCH,
        ),
        ClientScope(
            "project",
            Location(("{project}/.github/mcp.json", "{project}/.mcp.json")),
            switch=_SWITCH,
            trust="Copilot CLI uses the servers of a project only in a trusted folder",
        ),
    ),
    shapes=(
        Shape(
            keys=("mcpServers",),
            words={
                Field.TYPE: "type",
                **USUAL_WORDS,
                Field.CWD: "cwd",
                Field.ONLY_TOOLS: "tools",
                Field.CALL_TIMEOUT: "timeout",
            },
            types=USUAL_TYPES,
            type_words={"local": Way.STDIO},
            type_written=REMOTE_WAYS,
            versions="1.0",
        ),
    ),
    format=Format.JSONC,
    dialect=BRACES,
)
