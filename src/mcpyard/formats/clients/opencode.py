"""OpenCode.

JSON with comments. The command is a list with the arguments in it, and every entry needs a type.
Version 2 moved the entries one level down, and turned `enabled` around. One bad entry keeps it
from reading its configuration at all. A reference has no default.
"""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    ALL_WAYS,
    Client,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    ReferenceSyntax,
    project_file,
    user_file,
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
_VERSION_1: Final = EntrySchema(
    keys=("mcp",),
    field_names={**_WORDS, Field.ENABLED: "enabled", Field.CALL_TIMEOUT: "timeout"},
    joined=True,
    types=_TYPES,
    type_needed=ALL_WAYS,
    type_written=ALL_WAYS,
    stubs=True,
    versions="1",
)
_VERSION_2: Final = replace(
    _VERSION_1,
    keys=("mcp", "servers"),
    field_names={
        **_WORDS,
        Field.ENABLED: "disabled",
        Field.START_TIMEOUT: "timeout.startup",
        Field.CALL_TIMEOUT: "timeout.request",
    },
    versions="2",
)

CLIENT: Final = Client(
    id="opencode",
    title="OpenCode",
    scopes=(
        user_file("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
        project_file(
            "{project}/opencode.json",
            "{project}/opencode.jsonc",
            "{project}/.opencode/opencode.json",
            "{project}/.opencode/opencode.jsonc",
        ),
    ),
    shapes=(_VERSION_1, _VERSION_2),
    format=FileFormat.JSONC,
    fragile=True,
    merges=True,
    dialect=ReferenceSyntax(
        r"\{env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|\{file:[^}]*\}",
        "{{env:{}}}",
    ),
)
