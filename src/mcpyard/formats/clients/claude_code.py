"""Claude Code.

One strict JSON file for the user and for each project's private servers, and `.mcp.json` for what
a project shares. A remote entry without a type is skipped; `cwd` is ignored. Nothing in an entry
switches it off: lists elsewhere do, and those of shared servers count only in a trusted folder.
"""

from typing import Final

from mcpyard.domain.files import LockKind
from mcpyard.formats.accepted import claude
from mcpyard.formats.facts import (
    PROJECT,
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
    Location,
    Match,
    NameRule,
    Rule,
    Switch,
    SwitchKind,
)
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import BRACES

_OWN_FILE: Final = Location(
    ("{home}/.claude.json",),
    ("CLAUDE_CONFIG_DIR", ("{moved}/.claude.json",)),
    (LockKind.FOLDER, "{path}.lock"),
)
_PER_PROJECT: Final = Switch(SwitchKind.LIST, off=("projects", PROJECT, "disabledMcpServers"))
_SHARED: Final = Switch(
    SwitchKind.LIST,
    file=Location(("{project}/.claude/settings.local.json",)),
    off=("disabledMcpjsonServers",),
    on=("enabledMcpjsonServers",),
    trust="takes effect once the folder is trusted in Claude Code",
)
_SETTINGS: Final = (
    Location(("{project}/.claude/settings.local.json",)),
    Location(("{project}/.claude/settings.json",)),
    Location(("{home}/.claude/settings.json",), ("CLAUDE_CONFIG_DIR", ("{moved}/settings.json",))),
)
_MANAGED: Final = (Location(("/etc/claude-code/managed-settings.json",)),)
_BLOCKED: Final = Rule(
    Effective.BLOCKED,
    "blocked by the managed settings of Claude Code",
    shuts=(
        Condition(Match.NAMED, ("deniedMcpServers",), _MANAGED),
        Condition(Match.UNNAMED, ("allowedMcpServers",), _MANAGED),
    ),
)
_REJECTED: Final = Rule(
    Effective.DISABLED,
    "is rejected or disabled in the settings of Claude Code",
    shuts=(
        Condition(Match.NAMED, ("projects", PROJECT, "disabledMcpServers"), (_OWN_FILE,)),
        Condition(Match.NAMED, ("disabledMcpjsonServers",), _SETTINGS),
        Condition(Match.NAMED, ("projects", PROJECT, "disabledMcpjsonServers"), (_OWN_FILE,)),
    ),
)
_UNAPPROVED: Final = Rule(
    Effective.UNTRUSTED,
    "not approved yet; Claude Code asks at its next start in the folder",
    opens=(
        Condition(Match.NAMED, ("enabledMcpjsonServers",), _SETTINGS),
        Condition(Match.SAYS, ("enableAllProjectMcpServers",), _SETTINGS),
        Condition(Match.NAMED, ("projects", PROJECT, "enabledMcpjsonServers"), (_OWN_FILE,)),
    ),
)
_UNTRUSTED: Final = Rule(
    Effective.UNTRUSTED,
    "is approved, but the folder is not trusted in Claude Code",
    opens=(Condition(Match.SAYS, ("projects", PROJECT, "hasTrustDialogAccepted"), (_OWN_FILE,)),),
)

CLIENT: Final = Client(
    id="claude-code",
    title="Claude Code",
    aliases=("claude",),
    scopes=(
        ClientScope("user", _OWN_FILE, switch=_PER_PROJECT, rules=(_BLOCKED,)),
        ClientScope(
            "local",
            _OWN_FILE,
            above=("projects", PROJECT),
            switch=_PER_PROJECT,
            rules=(_BLOCKED,),
            hides=("user", "project"),
        ),
        ClientScope(
            "project",
            Location(("{project}/.mcp.json",)),
            switch=_SHARED,
            trust="Claude Code asks for approval before it uses a project server",
            rules=(_BLOCKED, _REJECTED, _UNAPPROVED, _UNTRUSTED),
            hides=("user",),
        ),
    ),
    shapes=(
        EntrySchema(
            field_names={
                Field.TYPE: "type",
                **USUAL_NAMES,
                Field.CALL_TIMEOUT: "timeout",
                Field.OAUTH_CLIENT_ID: "oauth.clientId",
                Field.OAUTH_SCOPES: "oauth.scopes",
                Field.OAUTH_CALLBACK_PORT: "oauth.callbackPort",
            },
            spaced=frozenset({"oauth.scopes"}),
            types={**USUAL_TYPES, EntryTransport.WS: "ws"},
            type_aliases={"streamable-http": EntryTransport.HTTP},
            type_needed=REMOTE_WAYS,
            type_written=REMOTE_WAYS,
            others=frozenset(
                {
                    "alwaysLoad",
                    "headersHelper",
                    "oauth",
                    "oauth.authServerMetadataUrl",
                    "oauth.xaa",
                    "role",
                    "toolPermissions",
                    "tools",
                }
            ),
            versions="2.1",
            accepts=claude.FACTS,
        ),
    ),
    dialect=BRACES,
    speaks=frozenset(EntryTransport),
    names=NameRule(
        r"[A-Za-z0-9_-]+",
        frozenset({"workspace", "claude-in-chrome"}),
        says="letters, digits, - and _",
    ),
    provenance=ran("2.1.325"),
)
