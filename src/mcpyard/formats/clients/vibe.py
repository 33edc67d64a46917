"""Mistral Vibe: a list of tables, each with its name and its transport.

One bad entry keeps it from starting. Of the headers of a server one can be a variable, which makes
it the same as a bearer token in Codex.
"""

from typing import Final

from mcpyard.formats.facts import (
    ALL_WAYS,
    SECOND,
    USUAL_NAMES,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    Location,
    NameRule,
    Unit,
)
from mcpyard.formats.provenance import read_in

_SECONDS: Final = Unit(SECOND, whole=False)
_WAYS: Final = frozenset({EntryTransport.STDIO, EntryTransport.HTTP, EntryTransport.REMOTE})

CLIENT: Final = Client(
    id="vibe",
    title="Mistral Vibe",
    aliases=("mistral-vibe",),
    scopes=(
        ClientScope(
            "user",
            Location(("{home}/.vibe/config.toml",), ("VIBE_HOME", ("{moved}/config.toml",))),
        ),
        ClientScope(
            "project",
            Location(("{project}/.vibe/config.toml",)),
            trust="Mistral Vibe reads project files only in trusted folders",
            hides=("user",),
        ),
    ),
    shapes=(
        EntrySchema(
            keys=("mcp_servers",),
            name_key="name",
            field_names={
                Field.TYPE: "transport",
                **USUAL_NAMES,
                Field.CWD: "cwd",
                Field.BEARER: "api_key_env",
                Field.ENABLED: "disabled",
                Field.START_TIMEOUT: "startup_timeout_sec",
                Field.CALL_TIMEOUT: "tool_timeout_sec",
                Field.EXCEPT_TOOLS: "disabled_tools",
            },
            joinable=True,
            types={
                EntryTransport.STDIO: "stdio",
                EntryTransport.HTTP: "streamable-http",
                EntryTransport.REMOTE: "streamable-http",
            },
            type_aliases={"http": EntryTransport.HTTP},
            type_needed=_WAYS,
            type_written=ALL_WAYS,
            units={"startup_timeout_sec": _SECONDS, "tool_timeout_sec": _SECONDS},
            others=frozenset({"api_key_format", "api_key_header", "auth", "prompt"}),
        ),
    ),
    format=FileFormat.TOML,
    fragile=True,
    speaks=_WAYS,
    names=NameRule(r"[A-Za-z0-9_-]+", says="letters, digits and - _"),
    provenance=read_in("3.0.3"),
)
