"""OpenCode.

JSON with comments. The command is a list with the arguments in it, and every entry needs a type.
Version 2 moved the entries one level down, and turned `enabled` around. One bad entry keeps it
from reading its configuration at all. A reference has no default.
"""

from typing import Final

from mcpyard.formats.facts import (
    ALL_WAYS,
    Client,
    ClientScope,
    Dialect,
    Field,
    Format,
    Location,
    Shape,
    Way,
)

_TYPES: Final = {
    Way.STDIO: "local",
    Way.REMOTE: "remote",
    Way.HTTP: "remote",
    Way.SSE: "remote",
}
_WORDS: Final = {
    Field.TYPE: "type",
    Field.COMMAND: "command",
    Field.ARGS: "command",
    Field.ENV: "environment",
    Field.CWD: "cwd",
    Field.URL: "url",
    Field.HEADERS: "headers",
}

CLIENT: Final = Client(
    id="opencode",
    title="OpenCode",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
            ),
        ),
        ClientScope(
            "project",
            Location(
                (
                    "{project}/opencode.json",
                    "{project}/opencode.jsonc",
                    "{project}/.opencode/opencode.json",
                    "{project}/.opencode/opencode.jsonc",
                )
            ),
            hides=("user",),
        ),
    ),
    shapes=(
        Shape(
            keys=("mcp",),
            words={**_WORDS, Field.ENABLED: "enabled", Field.CALL_TIMEOUT: "timeout"},
            joined=True,
            types=_TYPES,
            type_needed=ALL_WAYS,
            type_written=ALL_WAYS,
            stubs=True,
            versions="1",
        ),
        Shape(
            keys=("mcp", "servers"),
            words={
                **_WORDS,
                Field.ENABLED: "disabled",
                Field.START_TIMEOUT: "timeout.startup",
                Field.CALL_TIMEOUT: "timeout.request",
            },
            joined=True,
            opposite=frozenset({"disabled"}),
            types=_TYPES,
            type_needed=ALL_WAYS,
            type_written=ALL_WAYS,
            stubs=True,
            versions="2",
        ),
    ),
    format=Format.JSONC,
    fragile=True,
    merges=True,
    dialect=Dialect(
        r"\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\{file:[^}]*\}",
        "{{env:{}}}",
    ),
)
