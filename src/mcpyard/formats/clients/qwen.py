"""Qwen Code.

In its settings an address under `httpUrl` is streamable HTTP and one under `url` is SSE, whatever
the type; in `.mcp.json` the type tells. It switches a server off by the list of the excluded ones,
and connects to the servers of a folder only after the user approved each as it is: the approval is
bound to a hash of the entry. A server that waits for it hides the user's own of the same name.
"""

from typing import Final

from mcpyard.formats.facts import (
    PROJECT,
    REMOTE_WAYS,
    USUAL_NAMES,
    USUAL_TYPES,
    ApprovalState,
    Client,
    ClientScope,
    Condition,
    Effective,
    EntrySchema,
    EntryTransport,
    Field,
    FileFormat,
    FileReading,
    Location,
    Match,
    Rule,
    Switch,
    SwitchKind,
)
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import LITERAL, VARIABLE, ReferenceSyntax


def _own(name: str, added: tuple[str, tuple[str, ...]] | None = None) -> Location:
    moved = "QWEN_HOME", (f"{{moved}}/{name}",)
    return Location((f"{{home}}/.qwen/{name}",), moved, added=added)


_SETTINGS: Final = (Location(("{project}/.qwen/settings.json",)), _own("settings.json"))
_APPROVALS: Final = (_own("mcpApprovals.json", ("QWEN_CODE_MCP_APPROVALS_PATH", ("{added}",))),)
_UNGATED: Final = (Condition(Match.SAYS, ("tools", "approvalMode"), _SETTINGS, ("yolo",)),)


def _decided(state: ApprovalState) -> Condition:
    return Condition(Match.DECIDED, (PROJECT,), _APPROVALS, (state,))


_USED: Final = (
    Rule(
        Effective.UNTRUSTED,
        "the folder is not trusted in Qwen Code, so no server is used",
        shuts=(Condition(Match.SAYS, ("security", "folderTrust", "enabled"), _SETTINGS[1:]),),
        unless=(
            Condition(
                Match.FOLDERS, (), (_own("trustedFolders.json"),), ("TRUST_FOLDER", "TRUST_PARENT")
            ),
        ),
    ),
    Rule(
        Effective.DISABLED,
        "is excluded in the settings of Qwen Code",
        shuts=(Condition(Match.NAMED, ("mcp", "excluded"), _SETTINGS, patterns=True),),
    ),
    Rule(
        Effective.BLOCKED,
        "is not in the allow list of the Qwen Code settings",
        shuts=(Condition(Match.UNNAMED, ("mcp", "allowed"), _SETTINGS, patterns=True),),
    ),
)
_APPROVED: Final = (
    *_USED,
    Rule(
        Effective.BLOCKED,
        "is rejected in Qwen Code",
        shuts=(_decided(ApprovalState.REJECTED),),
        unless=_UNGATED,
        hides=True,
    ),
    Rule(
        Effective.UNTRUSTED,
        "changed since Qwen Code asked; it asks again at its next start in the folder",
        shuts=(_decided(ApprovalState.CHANGED),),
        unless=_UNGATED,
        hides=True,
    ),
    Rule(
        Effective.UNTRUSTED,
        "not approved yet; Qwen Code asks at its next start in the folder",
        opens=(_decided(ApprovalState.APPROVED), *_UNGATED),
        hides=True,
    ),
)
_ASKS: Final = "Qwen Code asks for approval before it uses a project server, and after each change"
_WORDS: Final = {
    **USUAL_NAMES,
    Field.CWD: "cwd",
    Field.CALL_TIMEOUT: "timeout",
    Field.ONLY_TOOLS: "includeTools",
    Field.EXCEPT_TOOLS: "excludeTools",
    Field.OAUTH_CLIENT_ID: "oauth.clientId",
    Field.OAUTH_CLIENT_SECRET: "oauth.clientSecret",
    Field.OAUTH_SCOPES: "oauth.scopes",
    Field.OAUTH_REDIRECT_URI: "oauth.redirectUri",
    Field.OAUTH_AUTHORIZATION_URL: "oauth.authorizationUrl",
    Field.OAUTH_TOKEN_URL: "oauth.tokenUrl",
    Field.OAUTH_AUDIENCES: "oauth.audiences",
}
_OAUTH: Final = {"oauth": {"oauth.enabled": True}}
"""What the program asks for before it looks at the rest."""

_OTHERS: Final = frozenset(
    {
        "alwaysLoadTools",
        "authProviderType",
        "description",
        "discoveryTimeoutMs",
        "extensionName",
        "oauth",
        "oauth.enabled",
        "oauth.registrationUrl",
        "oauth.tokenParamName",
        "scope",
        "targetAudience",
        "targetServiceAccount",
        "tcp",
        "trust",
        "versionNegotiation",
    }
)

CLIENT: Final = Client(
    id="qwen",
    title="Qwen Code",
    scopes=(
        ClientScope(
            "user",
            _SETTINGS[1],
            switch=Switch(SwitchKind.LIST, off=("mcp", "excluded")),
            rules=_USED,
        ),
        ClientScope(
            "project",
            _SETTINGS[0],
            switch=Switch(SwitchKind.LIST, off=("mcp", "excluded")),
            trust=_ASKS,
            rules=_APPROVED,
            hides=("user", "shared"),
        ),
        ClientScope(
            "shared",
            Location(("{project}/.mcp.json",)),
            switch=Switch(SwitchKind.LIST, file=_SETTINGS[0], off=("mcp", "excluded")),
            trust=_ASKS,
            rules=_APPROVED,
            hides=("user",),
            reading=FileReading(
                shapes=(
                    EntrySchema(
                        field_names={Field.TYPE: "type", **_WORDS},
                        also={"httpUrl": Field.URL},
                        types=USUAL_TYPES,
                        type_aliases={"streamable-http": EntryTransport.SSE},
                        type_written=REMOTE_WAYS,
                        url_ways={"httpUrl": EntryTransport.HTTP, "url": EntryTransport.SSE},
                        others=_OTHERS,
                        beside=_OAUTH,
                        versions="0.24",
                    ),
                ),
                format=FileFormat.JSONC,
                dialect=LITERAL,
            ),
        ),
    ),
    shapes=(
        EntrySchema(
            field_names={**_WORDS, Field.URL: "httpUrl"},
            also={"url": Field.URL},
            url_ways={"httpUrl": EntryTransport.HTTP, "url": EntryTransport.SSE},
            others=_OTHERS | {"type"},
            beside=_OAUTH,
            versions="0.24",
        ),
    ),
    format=FileFormat.JSONC,
    bom=False,
    trailing_commas=False,
    dialect=ReferenceSyntax(rf"\$\{{(?P<name>{VARIABLE})\}}|\$(?P<bare>{VARIABLE})", "${{{}}}"),
    provenance=ran("0.24.4"),
)
