"""The operations on mcpyard itself: its state, its profiles, and who may use it."""

from typing import Final

from mcpyard.api.events import STREAM
from mcpyard.api.journal import LONGEST_PAGE, PAGE
from mcpyard.api.openapi.builders import (
    Json,
    Operations,
    answer,
    body,
    header,
    many,
    nothing,
    one,
    operation,
    public,
    query,
    ref,
    text,
    written,
)
from mcpyard.api.openapi.examples import EVENTS, METRICS
from mcpyard.api.responses import JSON, PROBLEM
from mcpyard.domain.stored import CallOrder
from mcpyard.yard.charts import ChartRange

_PROFILE: Final = one("Profile", "The profile.")
_NO_TOKEN: Final[list[Json]] = [{}]
_TOKEN_OR_NONE: Final[list[Json]] = [{}, {"bearer": []}]
_HTML: Final = "text/html"
_PAGE_OR_PROBLEM: Final[Json] = {_HTML: {"schema": text()}, PROBLEM: {"schema": ref("Problem")}}


def _page(status: int, description: str) -> Json:
    return written(_HTML, description, status)


def _number(name: str, description: str, highest: int = 2**63 - 1, **more: object) -> Json:
    return query(name, description, type="integer", minimum=1, maximum=highest, **more)


_RANGE: Final = query("range", "How far back.", enum=[*ChartRange], default=str(ChartRange.HOUR))

YARD: Final[Operations] = {
    "GET /api/mcp/calls listCalls": operation(
        "List the last calls: in a cluster, latest first those of all nodes that answer in time, "
        "in any other order those of this node. Each caller keeps a fair share of the journal.",
        one("Calls", "A page."),
        *(404, 422),
        parameters=[
            query("server", "Only calls of this server, by id or name."),
            query("tool", "Only calls of this tool, by the server's own name."),
            query("outcome", "Only calls with this outcome; `failed` stands for all but `ok`."),
            query("who", "Only calls by this caller, as in `who`."),
            query("since", "Only calls since this time, or of this age: `15m`, `1h`, `7d`."),
            query("until", "Only calls before this time, or older than this age."),
            query("text", "Only calls with this text in a name, the outcome or the error."),
            query("sort", "What to sort by.", enum=[*CallOrder], default="time"),
            query("order", "Highest or lowest first.", enum=["desc", "asc"], default="desc"),
            query("before", "Only earlier calls: the `next` of the previous page."),
            _number("offset", "Calls to skip, in another order than by time, latest first."),
            _number("limit", "The maximum number of calls.", LONGEST_PAGE, default=PAGE),
        ],
    ),
    "GET /api/mcp/charts/calls getCallsChart": operation(
        "Calls and durations over time, by the minute; the last week survives a restart.",
        one("CallsChart", "The chart."),
        *(404, 422),
        parameters=[_RANGE, query("server", "Only calls of this server, by id or name.")],
    ),
    "GET /api/mcp/charts/usage getUsageChart": operation(
        "Memory and CPU of a server's processes over time.",
        one("UsageChart", "The chart."),
        *(404, 422),
        parameters=[_RANGE, query("server", "The server, by id or name.") | {"required": True}],
    ),
    "GET /api/mcp/charts/tokens getTokensChart": operation(
        "Estimated tokens that the tool lists of servers, profiles and clients cost a model.",
        one("TokensChart", "The costs."),
    ),
    "DELETE /api/mcp/calls clearCalls": operation(
        "Delete the recorded arguments and results of all calls, in a cluster of those that were "
        "made at this node; the list of calls stays.",
        one("Cleared", "How many."),
        507,
    ),
    "GET /api/mcp/calls/{call} showCall": operation(
        "Show one call with its arguments, result, error and timing, as far as they are recorded. "
        "Secrets are masked; texts longer than 64 KiB are cut. In a cluster, the id is that of "
        "a call of this node.",
        one("CallDetails", "The call."),
        *(403, 404),
    ),
    "GET /api/mcp/recording showRecording": operation(
        "Show whether the arguments and results of calls are recorded.",
        one("Recording", "Whether, and how much."),
    ),
    "PUT /api/mcp/recording setRecording": operation(
        "Record the arguments and results of calls from now on, or not; in a cluster, of those "
        "that are made at this node.",
        one("Recording", "Whether, and how much."),
        507,
        requestBody=body("RecordingMode"),
    ),
    "GET /api/events streamEvents": operation(
        "Stream events as server-sent events.",
        written(
            STREAM,
            "Begins with `hello` for a new client. `status`, `tools`, `removed` and "
            "`documents` report changes; `backup` and `recovered` a server whose calls go "
            "to a fallback server, and back; `profiles` a changed profile; `cluster` what happens "
            "to nodes and placements, as in `events` of the cluster; `calls` "
            "counters. After `resync`, read the whole state again. A comment every 15 s "
            "keeps the connection alive.",
            example=EVENTS,
        ),
        *(422, 429),
        parameters=[
            query("after", "The id of the last event received."),
            header("Last-Event-ID", "The same, as browsers send it."),
            query("ticket", "A ticket of a browser, instead of its session key."),
        ],
    ),
    "GET /api/openapi.json getOpenapi": operation(
        "The OpenAPI document.", answer("The document.", {JSON: {"schema": {"type": "object"}}})
    ),
    "GET /livez getLiveness": public(
        "Report that the process and its event loop run.",
        one("Alive", "Alive."),
        *(400, 403, 421),
        security=_TOKEN_OR_NONE,
    ),
    "GET /readyz getReadiness": public(
        "Report whether calls are served. What else does not work is listed with a token.",
        one("Readiness", "Ready, or degraded.") | one("Readiness", "mcpyard is stopping.", 503),
        *(400, 403, 421),
        security=_TOKEN_OR_NONE,
    ),
    "GET /healthz getHealth": public(
        "Report the health of mcpyard; with a token also the status of each server.",
        one("Health", "Healthy, or degraded.")
        | one("Sickness", "The home is gone; mcpyard stores nothing.", 507),
        *(400, 403, 421),
        security=_TOKEN_OR_NONE,
    ),
    "GET /metrics getMetrics": operation(
        "Metrics in the Prometheus format.",
        written("text/plain", "Status, restarts, calls, errors, latency, bytes.", example=METRICS),
    ),
}

PROFILES: Final[Operations] = {
    "GET /api/profiles listProfiles": operation(
        "List the profiles; each has the gateway URL `/mcp/NAME`.", many("Profile", "All of them.")
    ),
    "POST /api/profiles createProfile": operation(
        "Create a profile: a selection of servers and tools.",
        one("Profile", "The profile.", 201),
        *(409, 507),
        requestBody=body("NewProfile"),
    ),
    "GET /api/profiles/{profile} showProfile": operation("Show one profile.", _PROFILE, 404),
    "PUT /api/profiles/{profile} replaceProfile": operation(
        "Replace a profile.", _PROFILE, *(404, 507), requestBody=body("ProfileBody")
    ),
    "DELETE /api/profiles/{profile} removeProfile": operation(
        "Remove a profile and its URL.", nothing(), 404, 507
    ),
}

_UNCONFIRMED: Final = one(
    "Revocation", "Revoked, but some nodes of the cluster did not confirm it.", 202
)

SECRETS: Final[Operations] = {
    "GET /api/secrets listSecrets": operation(
        "List the stored secrets, without their values.", many("StoredSecret", "All of them.")
    ),
    "PUT /api/secrets/{secret} setSecret": operation(
        "Store a secret, which `${NAME}` finds after the environment; what uses it is restarted.",
        one("SecretChange", "What was done, or would be."),
        *(404, 409, 507),
        requestBody=body("SecretBody"),
    ),
    "DELETE /api/secrets/{secret} removeSecret": operation(
        "Delete a secret.", one("SecretChange", "What was done."), *(404, 409, 422, 507)
    ),
}

DOORS: Final[Operations] = {
    "GET /api/tokens listTokens": operation(
        "List the call tokens, including revoked ones, without their secrets.",
        many("Token", "All of them."),
    ),
    "POST /api/tokens createToken": operation(
        "Create a call token for the gateway, or for one profile; it may expire.",
        one("MadeToken", "The token; shown only once.", 201),
        *(404, 409, 507),
        requestBody=body("NewToken"),
    ),
    "DELETE /api/tokens/{token} revokeToken": operation(
        "Revoke a call token. In a cluster the answer waits until every node confirmed it, 2 s at "
        "most.",
        nothing() | _UNCONFIRMED,
        *(404, 507),
    ),
    "POST /api/tokens/rotate rotateAdminToken": operation(
        "Replace the admin token; the new one is in the file `token` in the home.",
        nothing() | _UNCONFIRMED,
        *(409, 507),
    ),
    "POST /api/login-links createLoginLink": operation(
        "Create a link that signs one browser in, once.", one("LoginLink", "The address.", 201), 507
    ),
    "POST /api/tickets createTicket": operation(
        "Create a ticket for `GET /api/events?ticket=` or a followed log; it opens one "
        "stream for the requesting browser.",
        one("Ticket", "The ticket.", 201),
        409,
    ),
    "GET /login login": public(
        "Sign a browser in with a one-time link, and continue to the web page.",
        _page(200, "A page that sets the cookie.")
        | _page(403, "A page: the link was used or has expired."),
        421,
        security=_NO_TOKEN,
        parameters=[query("link", "The secret of a one-time link.")],
    ),
    "POST /logout logout": operation("Sign the requesting browser out.", nothing() | _UNCONFIRMED),
    "GET /api/projects/waiting listWaiting": operation(
        "List the entries of project files that need approval, with everything they would run.",
        many("WaitingFolder", "The folders."),
        422,
        parameters=[query("folder", "Only this folder, even if mcpyard does not run with it.")],
    ),
    "POST /api/projects/approve approveProject": operation(
        "Approve the shown entries of a folder's `.mcp.json` and start their servers.",
        one("Approved", "What was approved."),
        *(409, 507),
        requestBody=body("Approval"),
    ),
    "POST /api/mcp/servers/{ref}/login signInServer": operation(
        "Begin a sign-in at a remote server.",
        one("SignIn", "The URL to open in a browser."),
        *(404, 409, 422, 502, 504, 507),
    ),
    "POST /api/mcp/servers/{ref}/logout signOutServer": operation(
        "Delete the tokens of a remote server, and connect to it without them.",
        one("Server", "The server."),
        *(404, 409, 422, 507),
    ),
    "GET /oauth/callback signInReturned": public(
        "The OAuth redirect URI, protected by `state`.",
        _page(200, "The server is signed in.")
        # With this status the guard answers too, with a problem.
        | answer("There is no such sign-in.", _PAGE_OR_PROBLEM, 400)
        | _page(404, "The server is gone.")
        | _page(502, "The authorization server refused, or is at fault.")
        | _page(504, "The authorization server did not answer in time.")
        | _page(507, "What it gave cannot be stored."),
        *(403, 421),
        security=_NO_TOKEN,
        parameters=[
            query("state", "Valid once."),
            query("code", "The authorization code."),
            query("error", "The error of the authorization server."),
        ],
    ),
}
