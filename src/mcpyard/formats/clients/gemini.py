"""Gemini CLI.

JSON with comments, but with no byte order mark and no trailing comma. Its schema is closed: a field
it does not know is complained about at every start, `enabled` among them, so that a server is
switched off in a file of its own, where names stand in lower case.
"""

from typing import Final

from mcpyard.formats.accepted import gemini
from mcpyard.formats.facts import (
    FOLDED_NAME,
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
from mcpyard.formats.reference_syntax import BRACES_OR_BARE

_SETTLES: Final = 0.25


def _own(name: str, settles: float = 0.0) -> Location:
    moved = "GEMINI_CLI_HOME", (f"{{moved}}/.gemini/{name}",)
    return Location((f"{{home}}/.gemini/{name}",), moved, settles=settles)


_SWITCH: Final = Switch(SwitchKind.MAP, file=_own("mcp-server-enablement.json"), lowered=True)
_SYSTEM: Final = Location(
    ("/etc/gemini-cli/settings.json",), ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", ("{moved}",))
)
_SETTINGS: Final = (
    Location(("{project}/.gemini/settings.json",), settles=_SETTLES),
    _own("settings.json", settles=_SETTLES),
)
_BLOCKED: Final = Rule(
    Effective.BLOCKED,
    "excluded by the mcp lists in the settings of Gemini CLI",
    shuts=(
        Condition(Match.NAMED, ("mcp", "excluded"), (*_SETTINGS, _SYSTEM)),
        Condition(Match.UNNAMED, ("mcp", "allowed"), (*_SETTINGS, _SYSTEM)),
    ),
)
_UNTRUSTED: Final = Rule(
    Effective.UNTRUSTED,
    "the folder is not trusted in Gemini CLI, so no server is used",
    shuts=(
        Condition(Match.VARIABLE, ("GEMINI_RESTRICTED_MODE",), values=("true",)),
        Condition(Match.VARIABLE, ("GEMINI_CLI_TRUST_WORKSPACE",), values=("false",)),
    ),
    opens=(
        Condition(
            Match.FOLDERS,
            (),
            (_own("trustedFolders.json"),),
            ("TRUST_FOLDER", "TRUST_PARENT"),
        ),
        Condition(Match.SAYS, ("security", "folderTrust", "enabled"), _SETTINGS[1:], (False,)),
        Condition(Match.VARIABLE, ("GEMINI_CLI_TRUST_WORKSPACE",), values=("true",)),
    ),
)

CLIENT: Final = Client(
    id="gemini",
    title="Gemini CLI",
    aliases=("gemini-cli",),
    scopes=(
        ClientScope("user", _SETTINGS[1], switch=_SWITCH, rules=(_BLOCKED, _UNTRUSTED)),
        ClientScope(
            "project",
            _SETTINGS[0],
            switch=_SWITCH,
            trust="Gemini CLI uses no servers in untrusted folders",
            rules=(_BLOCKED, _UNTRUSTED),
            hides=("user",),
        ),
    ),
    shapes=(
        EntrySchema(
            field_names={
                **USUAL_NAMES,
                Field.TYPE: "type",
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
            },
            beside={"oauth": {"oauth.enabled": True}},
            also={"httpUrl": Field.URL},
            types=USUAL_TYPES,
            type_written=REMOTE_WAYS,
            url_ways={"httpUrl": EntryTransport.HTTP},
            others=frozenset(
                {
                    "authProviderType",
                    "description",
                    "extension",
                    "oauth",
                    "oauth.enabled",
                    "oauth.issuer",
                    "oauth.registrationUrl",
                    "oauth.tokenParamName",
                    "targetAudience",
                    "targetServiceAccount",
                    "tcp",
                    "trust",
                }
            ),
            versions="0.61",
            accepts=gemini.FACTS,
        ),
    ),
    format=FileFormat.JSONC,
    bom=False,
    trailing_commas=False,
    closed=True,
    dialect=BRACES_OR_BARE,
    names=FOLDED_NAME,
    provenance=ran("0.61.0"),
)
