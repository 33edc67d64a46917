"""The operation that connects a client to the gateway."""

from typing import Final

from mcpyard.api.openapi.builders import Json, array, body, members, operation, ref, response, text

_FLAG: Final[Json] = {"type": "boolean"}
_DONE: Final[Json] = {
    "files": [{"path": "/home/me/.codex/config.toml", "diff": "..."}],
    "warnings": [],
    "edit": 12,
    "token": None,
}

CONNECT_SCHEMAS: Final[Json] = {
    "Connect": members(
        {"client": text("Such as `codex`.", minLength=1)},
        {
            "scope": text("One of the client's scopes; default: its first."),
            "name": text(
                "The name of the gateway's entry there; the default is `mcpyard`.", minLength=1
            ),
            "profile": text("The selection of servers and tools."),
            "http": {
                **_FLAG,
                "description": "By its address, with a token of its own. A program that takes only "
                "commands is refused (422).",
            },
            "command": array(text("The command that is the bridge.")),
            "dryRun": {**_FLAG, "description": "Only tell what would be."},
            "project": text("The folder that it is looked at from.", pattern="^/"),
        },
    ),
}

CONNECTING: Final[Json] = {
    "/api/clients/connect": {
        "post": operation(
            "connectClient",
            "Add the gateway to a client's configuration: as a command that needs no token, or as "
            "a URL with a new call token. If the client can read the token from an environment "
            "variable, the token is not written but returned, only once.",
            {
                200: response(
                    "What changed, or would.",
                    ref("Connected"),
                    _DONE,
                )
            },
            (404, 409, 412, 422, 507),
            tags=["clients"],
            requestBody=body(ref("Connect"), {"codex": {"client": "codex", "profile": "work"}}),
        )
    }
}
