"""The operations on tokens and browser sign-in."""

from typing import Final

from mcpyard.api.openapi.builders import (
    Json,
    array,
    body,
    maybe,
    operation,
    parameter,
    query,
    ref,
    response,
    text,
)
from mcpyard.api.security.keys import TICKET_LIFE
from mcpyard.api.tokens import LONGEST_NAME

_MOMENT: Final = "2026-11-15T09:30:00.000+00:00"
_TOKEN: Final[Json] = {
    "id": "4f1c2b3a-5d6e-4f70-8a9b-0c1d2e3f4a5b",
    "name": "laptop",
    "profile": None,
    "created": _MOMENT,
    "lastUsed": None,
    "revoked": None,
}
_HTML: Final[Json] = {"content": {"text/html": {"schema": text()}}}
_NOTHING: Final[Json] = {"description": "Done."}
_NAME: Final = text("Printable characters.", minLength=1, maxLength=LONGEST_NAME)

DOOR_SCHEMAS: Final[Json] = {
    "NewToken": {
        "type": "object",
        "properties": {"name": _NAME, "profile": maybe(_NAME)},
        "required": ["name"],
    },
}

DOORS: Final[Json] = {
    "/api/tokens": {
        "get": operation(
            "listTokens",
            "List the call tokens, including revoked ones, without their secrets.",
            {200: response("All of them.", array(ref("Token")), [_TOKEN])},
            tags=["doors"],
        ),
        "post": operation(
            "createToken",
            "Create a call token for the gateway, or for one profile.",
            {
                201: response(
                    "The token; shown only once.",
                    ref("MadeToken"),
                    _TOKEN | {"token": "mcpyard_..."},
                )
            },
            (404, 409, 507),
            tags=["doors"],
            requestBody=body(ref("NewToken"), {"all": {"name": "laptop"}}),
        ),
    },
    "/api/tokens/{token}": {
        "parameters": [parameter("token")],
        "delete": operation(
            "revokeToken",
            "Revoke a call token.",
            {204: _NOTHING},
            (404, 507),
            tags=["doors"],
        ),
    },
    "/api/tokens/rotate": {
        "post": operation(
            "rotateAdminToken",
            "Replace the admin token; the new one is in the file `token` in the home.",
            {204: _NOTHING},
            (409, 507),
            tags=["doors"],
        )
    },
    "/api/login-links": {
        "post": operation(
            "createLoginLink",
            "Create a link that signs one browser in, once.",
            {
                201: response(
                    "The address.",
                    ref("LoginLink"),
                    {"url": "http://127.0.0.1:8712/login?link=...", "expires": _MOMENT},
                )
            },
            (507,),
            tags=["doors"],
        )
    },
    "/api/tickets": {
        "post": operation(
            "createTicket",
            "Create a ticket for `GET /api/events?ticket=` or a followed log; it opens one stream "
            "for the requesting browser.",
            {
                201: response(
                    "The ticket.", ref("Ticket"), {"ticket": "...", "expiresIn": TICKET_LIFE}
                )
            },
            (409,),
            tags=["doors"],
        )
    },
    "/login": {
        "get": {
            "operationId": "login",
            "summary": "Sign a browser in with a one-time link, and continue to the web page.",
            "tags": ["doors"],
            "security": [{}],
            "parameters": [query("link", "The secret of a one-time link.", text())],
            "responses": {
                "200": {"description": "A page that sets the cookie.", **_HTML},
                "403": {"description": "A page: the link was used or has expired.", **_HTML},
                "421": {"$ref": "#/components/responses/Problem421"},
            },
        }
    },
    "/logout": {
        "post": operation(
            "logout", "Sign the requesting browser out.", {204: _NOTHING}, tags=["doors"]
        )
    },
}
