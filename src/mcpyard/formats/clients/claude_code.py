"""Claude Code.

One strict JSON file for the user and for each project's private servers, and `.mcp.json` for what
a project shares. A remote entry without a type is skipped; `cwd` is ignored. Nothing in an entry
switches it off: lists elsewhere do, and those of shared servers count only in a trusted folder.
"""

from typing import Final

from mcpyard.formats.facts import (
    BRACES,
    PROJECT,
    REMOTE_WAYS,
    USUAL_TYPES,
    USUAL_WORDS,
    Client,
    ClientScope,
    Field,
    Location,
    NameRule,
    Shape,
    Switch,
    SwitchKind,
    Way,
)

_OWN_FILE: Final = Location(
    ("{home}/.claude.json",), ("CLAUDE_CONFIG_DIR", ("{moved}/.claude.json",))
)
_PER_PROJECT: Final = Switch(SwitchKind.LIST, off=("projects", PROJECT, "disabledMcpServers"))
_SHARED: Final = Switch(
    SwitchKind.LIST,
    file=Location(("{project}/.claude/settings.local.json",)),
    off=("disabledMcpjsonServers",),
    on=("enabledMcpjsonServers",),
    trust="counts once the folder is trusted in Claude Code",
)

CLIENT: Final = Client(
    id="claude-code",
    title="Claude Code",
    aliases=("claude",),
    scopes=(
        ClientScope("user", _OWN_FILE, switch=_PER_PROJECT),
        ClientScope("local", _OWN_FILE, above=("projects", PROJECT), switch=_PER_PROJECT),
        ClientScope(
            "project",
            Location(("{project}/.mcp.json",)),
            switch=_SHARED,
            trust="Claude Code asks for approval before it uses a server of a project",
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
