"""mcpyard itself, so that servers go into and out of the yard by the same code.

The project's servers are those of its `.mcp.json`; the user's are in no file.
"""

from typing import Final

from mcpyard.formats.facts import (
    USUAL_TYPES,
    USUAL_WORDS,
    Client,
    ClientScope,
    Dialect,
    Field,
    Format,
    Location,
    Shape,
    Way,
)

CLIENT: Final = Client(
    id="yard",
    title="mcpyard",
    aliases=("mcpyard",),
    scopes=(
        ClientScope("user", None),
        ClientScope("project", Location(("{project}/.mcp.json",))),
    ),
    shapes=(
        Shape(
            keys=("mcpServers",),
            words={
                Field.TYPE: "type",
                **USUAL_WORDS,
                Field.CWD: "cwd",
                Field.ENABLED: "enabled",
                Field.CALL_TIMEOUT: "timeout",
                Field.START_TIMEOUT: "startTimeout",
                Field.ENV_VARS: "inherit",
            },
            also={
                "environment": Field.ENV,
                "transport": Field.TYPE,
                "start_timeout": Field.START_TIMEOUT,
                "disabled": Field.ENABLED,
            },
            opposite=frozenset({"disabled"}),
            joinable=True,
            types={**USUAL_TYPES, Way.REMOTE: "remote"},
            type_words={
                "local": Way.STDIO,
                "streamable-http": Way.HTTP,
                "streamable_http": Way.HTTP,
                "streamableHttp": Way.HTTP,
            },
        ),
    ),
    format=Format.JSONC,
    dialect=Dialect(
        r"\$(?P<literal>\$\{)"
        r"|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^}]*))?|keyring:[^}]*)\}",
        "${{{}}}",
        "${{{}:-{}}}",
        (("${", "$${"),),
    ),
)
