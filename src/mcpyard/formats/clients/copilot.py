"""GitHub Copilot CLI.

`disabled` in an entry is kept and not honoured; a list in its settings is the real switch. Its
list of tools names all of them by a star. A variable of an entry whose text is the name of another
variable gets the value of that one, which no dialect here can say. While it writes it locks a file
that it keeps for that alone; it goes by that very file, so that nobody else may make or remove it.
"""

from typing import Final

from mcpyard.domain.files import LockKind
from mcpyard.formats.accepted import copilot
from mcpyard.formats.facts import (
    REMOTE_WAYS,
    USUAL_NAMES,
    USUAL_TYPES,
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
from mcpyard.formats.reference_syntax import VARIABLE, ReferenceSyntax

_SWITCH: Final = Switch(
    SwitchKind.LIST,
    file=Location(("{home}/.copilot/settings.json",), ("COPILOT_HOME", ("{moved}/settings.json",))),
    off=("disabledMcpServers",),
)
_CONFIG: Final = (
    Location(("{home}/.copilot/config.json",), ("COPILOT_HOME", ("{moved}/config.json",))),
)
_UNTRUSTED: Final = Rule(
    Effective.UNTRUSTED,
    "the folder is not trusted in Copilot CLI, so its file is not read",
    opens=(
        Condition(Match.FOLDERS, ("trustedFolders",), _CONFIG),
        Condition(Match.FOLDERS, ("trusted_folders",), _CONFIG),
    ),
    unread=True,
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
                (LockKind.FILE, "{folder}/.mcp-writer.lock"),
            ),
            switch=_SWITCH,
        ),
        ClientScope(
            "project",
            Location(("{project}/.github/mcp.json", "{project}/.mcp.json"), alone=True),
            switch=_SWITCH,
            trust="Copilot CLI uses project servers only in trusted folders",
            rules=(_UNTRUSTED,),
            hides=("user",),
        ),
    ),
    shapes=(
        EntrySchema(
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.CWD: "cwd",
                Field.ONLY_TOOLS: "tools",
                Field.CALL_TIMEOUT: "timeout",
                Field.OAUTH_CLIENT_ID: "oauthClientId",
                Field.OAUTH_SCOPES: "oauthScopes",
            },
            types=USUAL_TYPES,
            type_aliases={"local": EntryTransport.STDIO, "streamable-http": EntryTransport.HTTP},
            others=frozenset({"filterMapping"}),
            type_written=REMOTE_WAYS,
            versions="1.0",
            accepts=copilot.FACTS,
        ),
    ),
    format=FileFormat.JSONC,
    dialect=ReferenceSyntax(
        rf"\$\{{(?:(?P<name>{VARIABLE})(?::-(?P<default>[^}}]*))?|secret:[^}}]*)\}}"
        rf"|\$(?P<bare>{VARIABLE})",
        "${{{}}}",
        "${{{}:-{}}}",
    ),
    provenance=ran("1.0.102"),
)
