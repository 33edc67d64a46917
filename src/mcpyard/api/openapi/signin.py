"""The operations to sign in at remote servers."""

from typing import Final

from mcpyard.api.openapi.builders import Json, operation, parameter, query, ref, response

_HTML: Final[Json] = {"text/html": {"schema": {"type": "string"}}}


def _page(description: str, *, guarded: bool = False) -> Json:
    """An answer for a person; with the same status the guard may answer with a problem."""
    problem = {"application/problem+json": {"schema": ref("Problem")}} if guarded else {}
    return {"description": description, "content": _HTML | problem}


SIGNING_IN: Final[Json] = {
    "/api/mcp/servers/{ref}/login": {
        "parameters": [parameter("ref")],
        "post": operation(
            "signInServer",
            "Begin a sign-in at a remote server.",
            {
                200: response(
                    "The URL to open in a browser.",
                    ref("SignIn"),
                    {"authorizationUrl": "https://login.example/authorize?state=x"},
                )
            },
            (404, 409, 422, 502, 504, 507),
            tags=["doors"],
        ),
    },
    "/api/mcp/servers/{ref}/logout": {
        "parameters": [parameter("ref")],
        "post": operation(
            "signOutServer",
            "Delete the tokens of a remote server, and connect to it without them.",
            {200: response("The server.", ref("Server"))},
            (404, 409, 422, 507),
            tags=["doors"],
        ),
    },
    "/oauth/callback": {
        "get": {
            "operationId": "signInReturned",
            "summary": "The OAuth redirect URI, protected by `state`.",
            "tags": ["doors"],
            "security": [{}],
            "parameters": [
                query("state", "Valid once.", {"type": "string"}),
                query("code", "The authorization code.", {"type": "string"}),
                query("error", "The error of the authorization server.", {"type": "string"}),
            ],
            "responses": {
                "200": _page("The server is signed in."),
                "400": _page("There is no such sign-in.", guarded=True),
                "403": {"$ref": "#/components/responses/Problem403"},
                "404": _page("The server is gone."),
                "421": {"$ref": "#/components/responses/Problem421"},
                "502": _page("The authorization server refused, or is at fault."),
                "504": _page("The authorization server did not answer in time."),
                "507": _page("What it gave cannot be stored."),
            },
        }
    },
}
