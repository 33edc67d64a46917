"""What the programs are asked about: the words of their entries, and values of every kind.

The words were found in the programs themselves. A word stands here with the texts that it is
limited to, where it is; which kinds of values it takes, and what the others cost, is for the
program to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpyard.formats.value_facts import Harm, Kind, Needs

RUN, ARGUMENT, ADDRESS = "run-it", "stub.py", "http://127.0.0.1:9/mcp"
"""Texts that stand for a program, its first argument and an address wherever an entry is kept."""

SAMPLES: Mapping[Kind, tuple[object, ...]] = {
    Kind.NULL: (None,),
    Kind.TRUE: (True,),
    Kind.FALSE: (False,),
    Kind.NEGATIVE: (-1, -5, -0.5),
    Kind.ZERO: (0,),
    Kind.INTEGER: (5000, 1, 60000),
    Kind.POINT_ZERO: (5000.0, 2000.0),
    Kind.FRACTION: (1500.5, 2500.25),
    Kind.LARGE: (2**40, 2**35),
    Kind.ENDLESS: (1e300,),
    Kind.EMPTY: ("",),
    Kind.TEXT: ("some-text", "true", "5", "${A}"),
    Kind.ADDRESS: ("https://127.0.0.1:9/x",),
    Kind.EMPTY_LIST: ([],),
    Kind.TEXTS: (["some-text"], ["A", "B"]),
    Kind.ITEMS: (["A", 1], [True], [["A"]]),
    Kind.OBJECTS: ([{"A": "x"}],),
    Kind.EMPTY_OBJECT: ({},),
    Kind.PAIRS: ({"A": "x"}, {"B": "y", "C": ""}),
    Kind.MEMBERS: ({"A": 1}, {"A": "x", "B": None}, {"A": {"B": "x"}}, {"A": True}),
}
"""Values of each kind: the first is asked about for the tables, any of them is drawn."""

Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Plan:
    """How the table of a program is made.

    Attributes:
        local: An entry that the program starts.
        remote: An entry that the program calls.
        field_names: The words to ask about, each with the texts that it may be limited to.
        workable: Values of some words with which a server still works.
        around: What must stand beside a word for it to be accepted at all.
        beside: Members that an object under a word must have besides.
        without: Words inside of others, about whose absence is asked too.
        needs: Words that depend on each other.
        remote_types: See `ValueFacts`, as for the next five.
        racing: Words whose wrong values a quick server survives; the local side tells for both.
        known: Entries that were judged wrongly once.
        null: Whether the language of the file has null.
        runs: Whether the program is asked by running the servers, so that commands must work.
    """

    local: Mapping[str, object]
    remote: Mapping[str, object]
    field_names: Words
    workable: Mapping[str, object] = field(default_factory=dict[str, object])
    around: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict[str, Mapping[str, object]]
    )
    beside: Mapping[str, Mapping[str, object]] = field(
        default_factory=dict[str, Mapping[str, object]]
    )
    without: tuple[str, ...] = ()
    needs: tuple[Needs, ...] = ()
    remote_types: tuple[str, ...] = ()
    local_types: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ("url",)
    address_first: bool = False
    rescued_by: str = ""
    off: tuple[tuple[str, str], ...] = ()
    racing: tuple[str, ...] = ()
    known: tuple[Mapping[str, object], ...] = ()
    null: bool = True
    runs: bool = False


def _words(text: str, **limited: tuple[str, ...]) -> Words:
    return {**dict.fromkeys(text.split(), ()), **limited}


_LOCAL = {"command": RUN}
_REMOTE = {"type": "http", "url": ADDRESS}
_WORKABLE: Mapping[str, object] = {
    "command": RUN,
    "args": [ARGUMENT],
    "cwd": "/",
    "oauth.authServerMetadataUrl": "https://127.0.0.1:9/x",
}
_APPROVALS = ("auto", "prompt", "writes", "approve")

CODEX = Plan(
    local=_LOCAL,
    remote={"url": ADDRESS},
    field_names=_words(
        """
        command args env cwd url bearer_token bearer_token_env_var http_headers env_http_headers
        http_headers_helper environment_id enabled required startup_timeout_sec startup_timeout_ms
        tool_timeout_sec supports_parallel_tool_calls tool_input_schema_max_bytes
        enabled_tools disabled_tools scopes oauth_resource name type headers disabled timeout
        env_vars env_vars[] env_vars[].name oauth oauth.client_id oauth.client_secret
        oauth.callback_url oauth.callback_port tools tools.* tools.*.output_token_limit
        """,
        **{
            "default_tools_approval_mode": _APPROVALS,
            "tools.*.approval_mode": _APPROVALS,
            "omit_tools_from": (),
            "omit_tools_from[]": ("code_mode", "deferred", "direct"),
            "startup_readiness": ("connection", "catalog"),
            "auth": ("oauth", "chatgpt", "ema_auth"),
            "env_vars[].source": ("local", "remote"),
            "oauth.token_endpoint_auth_method": ("client_secret_basic", "client_secret_post"),
            "oauth.authorization_server_issuer": (),
        },
    ),
    around={
        "env_vars[].source": {"env_vars": [{"name": "A"}]},
        "oauth.client_secret": {"oauth": {"client_id": "A"}},
        "oauth.token_endpoint_auth_method": {
            "oauth": {"client_id": "A", "client_secret": "B"},
            "auth": "ema_auth",
        },
        "oauth.authorization_server_issuer": {"oauth": {"client_id": "A"}, "auth": "ema_auth"},
    },
    beside={"env_vars[]": {"name": "A"}},
    off=(("auth", "ema_auth"),),
    without=("env_vars[].name",),
    needs=(
        Needs("oauth.client_secret", "oauth.client_id", Harm.FILE),
        Needs("oauth.token_endpoint_auth_method", "oauth.client_secret", Harm.FILE),
        Needs("oauth.token_endpoint_auth_method", "auth", Harm.FILE, "ema_auth"),
        Needs("oauth.authorization_server_issuer", "auth", Harm.FILE, "ema_auth"),
    ),
    known=(
        {"url": ADDRESS, "bearer_token": "A"},
        {"command": RUN, "env_vars": "A"},
        {"command": RUN, "required": "y"},
        {"command": RUN, "default_tools_approval_mode": "bogus"},
        {"command": RUN, "oauth": {"client_id": "A"}},
        {"command": RUN, "startup_timeout_sec": 0},
        {"command": RUN, "env_vars": [{"name": "A", "source": "remote"}, "B"]},
        {"command": RUN, "tools": {"A": {"approval_mode": "approve"}}},
    ),
    null=False,
)

OPENCODE = Plan(
    local={"type": "local", "command": [RUN, ARGUMENT]},
    remote={"type": "remote", "url": ADDRESS},
    field_names=_words(
        """
        command environment cwd url headers enabled timeout args env oauth oauth.clientId
        oauth.clientSecret oauth.scope oauth.callbackPort oauth.redirectUri
        """,
        type=("local", "remote"),
    ),
    workable={**_WORKABLE, "command": [RUN, ARGUMENT]},
    remote_types=("remote",),
    addresses=(),
    rescued_by="enabled",
    known=(
        {"type": "remote", "url": ADDRESS, "oauth": True},
        {"type": "remote", "url": ADDRESS, "oauth": False},
        {"type": "local"},
        {"type": "local", "command": ["{file:/nowhere/at-all}"]},
        {"type": "local", "command": [RUN, "{file:~/nowhere}"]},
        {"type": "local", "command": [RUN], "disabled": True, "timeout": {"startup": 5}},
        {"type": "remote", "url": ADDRESS, "disabled": True, "oauth": {"redirectUri": -1}},
        {"type": "remote", "url": ADDRESS, "oauth": {"client_id": 5}},
        {"type": "local", "command": [RUN], "disabled": "x"},
    ),
)

OPENCODE_2 = Plan(
    local=OPENCODE.local,
    remote=OPENCODE.remote,
    field_names=_words(
        """
        command environment cwd url headers enabled disabled codemode args env timeout
        timeout.startup timeout.request timeout.catalog timeout.execution oauth oauth.client_id
        oauth.client_secret oauth.scope oauth.callback_port oauth.redirect_uri
        """,
        type=("local", "remote"),
    ),
    workable=OPENCODE.workable,
    remote_types=("remote",),
    addresses=(),
    rescued_by="enabled",
)

CLAUDE = Plan(
    local=_LOCAL,
    remote=_REMOTE,
    field_names=_words(
        """
        command args env cwd url headers headersHelper timeout alwaysLoad role disabled enabled
        oauth oauth.clientId oauth.callbackPort oauth.scopes oauth.authServerMetadataUrl oauth.xaa
        tools toolPermissions
        """,
        type=("stdio", "http", "sse", "ws", "streamable-http"),
    ),
    workable=_WORKABLE,
    remote_types=("http", "sse", "streamable-http", "ws"),
    addresses=(),
)

COPILOT = Plan(
    local=_LOCAL,
    remote=_REMOTE,
    field_names=_words(
        """
        command args env cwd url headers tools timeout oauthClientId oauthScopes disabled enabled
        oauth
        """,
        filterMapping=("none", "markdown", "hidden_characters"),
        type=("local", "stdio", "http", "sse", "streamable-http"),
    ),
    workable=_WORKABLE,
    remote_types=("http", "sse", "streamable-http"),
    local_types=("local", "stdio"),
    around={"oauthScopes": {"oauthClientId": "A"}},
    needs=(Needs("oauthScopes", "oauthClientId", Harm.ENTRY),),
)

GEMINI = Plan(
    local=_LOCAL,
    remote=_REMOTE,
    field_names=_words(
        """
        command args env cwd url httpUrl headers timeout trust includeTools excludeTools oauth
        """
    ),
    workable=_WORKABLE,
    racing=("timeout",),
    addresses=("httpUrl", "url"),
    address_first=True,
    runs=True,
)

PLANS: Mapping[str, Plan] = {
    "codex": CODEX,
    "opencode": OPENCODE,
    "opencode-2": OPENCODE_2,
    "claude": CLAUDE,
    "copilot": COPILOT,
    "gemini": GEMINI,
}
