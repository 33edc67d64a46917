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
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    ReferenceSyntax,
)

_TYPES: Final = {
    EntryTransport.STDIO: "local",
    EntryTransport.REMOTE: "remote",
    EntryTransport.HTTP: "remote",
    EntryTransport.SSE: "remote",
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
        EntrySchema(
            keys=("mcp",),
            field_names={**_WORDS, Field.ENABLED: "enabled", Field.CALL_TIMEOUT: "timeout"},
            joined=True,
            types=_TYPES,
            type_needed=ALL_WAYS,
            type_written=ALL_WAYS,
            stubs=True,
            versions="1",
        ),
        EntrySchema(
            keys=("mcp", "servers"),
            field_names={
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
    format=FileFormat.JSONC,
    fragile=True,
    merges=True,
    dialect=ReferenceSyntax(
        r"\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\{file:[^}]*\}",
        "{{env:{}}}",
    ),
)
