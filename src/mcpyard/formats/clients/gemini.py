"""Gemini CLI.

JSON with comments, and no byte order mark. Its schema is closed: a field it does not know is
complained about at every start, `enabled` among them, so that a server is switched off in a file
of its own, where names stand in lower case.
"""

from typing import Final

from mcpyard.formats.facts import (
    REMOTE_WAYS,
    USUAL_TYPES,
    USUAL_WORDS,
    Client,
    ClientScope,
    Dialect,
    Field,
    Format,
    Location,
    NameRule,
    Shape,
    Switch,
    SwitchKind,
    Way,
)

_NAME: Final = "[A-Za-z_][A-Za-z0-9_]*"
_SWITCH: Final = Switch(
    SwitchKind.MAP, file=Location(("{home}/.gemini/mcp-server-enablement.json",)), lowered=True
)

CLIENT: Final = Client(
    id="gemini",
    title="Gemini CLI",
    aliases=("gemini-cli",),
    scopes=(
        ClientScope("user", Location(("{home}/.gemini/settings.json",)), switch=_SWITCH),
        ClientScope(
            "project",
            Location(("{project}/.gemini/settings.json",)),
            switch=_SWITCH,
            trust="Gemini CLI uses no server in a folder that is not trusted",
        ),
    ),
    shapes=(
        Shape(
            keys=("mcpServers",),
            words={
                **USUAL_WORDS,
                Field.TYPE: "type",
                Field.CWD: "cwd",
                Field.CALL_TIMEOUT: "timeout",
                Field.ONLY_TOOLS: "includeTools",
                Field.EXCEPT_TOOLS: "excludeTools",
            },
            also={"httpUrl": Field.URL},
            types=USUAL_TYPES,
            type_written=REMOTE_WAYS,
            url_ways={"httpUrl": Way.HTTP},
            versions="0.61",
        ),
    ),
    format=Format.JSONC,
    bom=False,
    closed=True,
    dialect=Dialect(
        rf"\$\{{(?P<name>{_NAME})(?::-(?P<default>[^}}]*))?\}}|\$(?P<bare>{_NAME})",
        "${{{}}}",
        "${{{}:-{}}}",
    ),
    names=NameRule(folded=True, says="any text, but not two that differ only in case"),
)
