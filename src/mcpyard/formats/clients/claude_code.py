"""Claude Code.

One strict JSON file for the user and for each project's private servers, and `.mcp.json` for what
a project shares. A remote entry without a type is skipped; `cwd` is ignored. Nothing in an entry
switches it off: lists elsewhere do, and those of shared servers count only in a trusted folder.
"""

from typing import Final

from mcpyard.domain.files import LockKind
from mcpyard.formats.facts import (
    BRACES,
    PROJECT,
    REMOTE_WAYS,
    USUAL_TYPES,
    USUAL_WORDS,
    Client,
    ClientScope,
    Clue,
    Effective,
    Field,
    Gate,
    Location,
    NameRule,
    Shape,
    Sign,
    Switch,
    SwitchKind,
    Way,
)

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
    trust="counts once the folder is trusted in Claude Code",
)
_SETTINGS: Final = (
    Location(("{project}/.claude/settings.local.json",)),
    Location(("{project}/.claude/settings.json",)),
    Location(("{home}/.claude/settings.json",), ("CLAUDE_CONFIG_DIR", ("{moved}/settings.json",))),
)
_MANAGED: Final = (Location(("/etc/claude-code/managed-settings.json",)),)
_BLOCKED: Final = Gate(
    Effective.BLOCKED,
    "the settings that an administrator made for Claude Code do not allow it",
    shuts=(
        Clue(Sign.NAMED, ("deniedMcpServers",), _MANAGED),
        Clue(Sign.UNNAMED, ("allowedMcpServers",), _MANAGED),
    ),
)
_REJECTED: Final = Gate(
    Effective.DISABLED,
    "is rejected or switched off in the settings of Claude Code",
    shuts=(
        Clue(Sign.NAMED, ("projects", PROJECT, "disabledMcpServers"), (_OWN_FILE,)),
        Clue(Sign.NAMED, ("disabledMcpjsonServers",), _SETTINGS),
        Clue(Sign.NAMED, ("projects", PROJECT, "disabledMcpjsonServers"), (_OWN_FILE,)),
    ),
)
_UNAPPROVED: Final = Gate(
    Effective.UNTRUSTED,
    "Claude Code has not been told to use it; it asks at its next start in the folder",
    opens=(
        Clue(Sign.NAMED, ("enabledMcpjsonServers",), _SETTINGS),
        Clue(Sign.SAYS, ("enableAllProjectMcpServers",), _SETTINGS),
        Clue(Sign.NAMED, ("projects", PROJECT, "enabledMcpjsonServers"), (_OWN_FILE,)),
    ),
)
_UNTRUSTED: Final = Gate(
    Effective.UNTRUSTED,
    "is approved, but the folder is not trusted in Claude Code",
    opens=(Clue(Sign.SAYS, ("projects", PROJECT, "hasTrustDialogAccepted"), (_OWN_FILE,)),),
)

CLIENT: Final = Client(
    id="claude-code",
    title="Claude Code",
    aliases=("claude",),
    scopes=(
        ClientScope("user", _OWN_FILE, switch=_PER_PROJECT, gates=(_BLOCKED,)),
        ClientScope(
            "local",
            _OWN_FILE,
            above=("projects", PROJECT),
            switch=_PER_PROJECT,
            gates=(_BLOCKED,),
            hides=("user", "project"),
        ),
        ClientScope(
            "project",
            Location(("{project}/.mcp.json",)),
            switch=_SHARED,
            trust="Claude Code asks for approval before it uses a server of a project",
            gates=(_BLOCKED, _REJECTED, _UNAPPROVED, _UNTRUSTED),
            hides=("user",),
        ),
    ),
    shapes=(
        Shape(
            keys=("mcpServers",),
            words={Field.TYPE: "type", **USUAL_WORDS, Field.CALL_TIMEOUT: "timeout"},
            types={**USUAL_TYPES, Way.WS: "ws"},
            type_words={"streamable-http": Way.HTTP},
            type_needed=REMOTE_WAYS,
            type_written=REMOTE_WAYS,
            others=frozenset(
                {"alwaysLoad", "headersHelper", "oauth", "role", "toolPermissions", "tools"}
            ),
            versions="2.1",
        ),
    ),
    dialect=BRACES,
    speaks=frozenset(Way),
    names=NameRule(
        r"[A-Za-z0-9_-]+",
        frozenset({"workspace", "claude-in-chrome"}),
        says="letters, digits, - and _",
    ),
)
