"""The operations on profiles."""

from typing import Final

from mcpyard.api.openapi.builders import (
    Json,
    array,
    body,
    members,
    operation,
    parameter,
    ref,
    response,
    text,
)
from mcpyard.api.openapi.derived import PROFILE
from mcpyard.catalog.names import MAX_NAME
from mcpyard.yard.profiles import LONGEST_NAME

_WORK: Final[Json] = {
    "name": "work",
    "servers": ["files", "git*"],
    "tools": {"files": {"delete_file": {"enabled": False}, "read_file": {"name": "read"}}},
}
_SAID: Final[Json] = {key: value for key, value in _WORK.items() if key != "name"}
_NOTHING: Final[Json] = {"description": "Done."}
_TAGS: Final = ["gateway"]

_VIEW: Final[dict[str, Json]] = {
    "enabled": {"type": "boolean", "description": "Whether it is shown."},
    "name": text("What it is called here.", pattern=rf"^[A-Za-z0-9_-]{{1,{MAX_NAME}}}$"),
    "description": text("What it does, in other words."),
}
_NAME: Final = text(
    "Its part of the address; `servers` is reserved.", minLength=1, maxLength=LONGEST_NAME
)

PROFILE_SCHEMAS: Final[Json] = {
    "NewProfile": members({"name": _NAME}, PROFILE),
    "ProfileBody": members({}, PROFILE),
    "ToolView": members({}, _VIEW),
}

PROFILES: Final[Json] = {
    "/api/profiles": {
        "get": operation(
            "listProfiles",
            "List the profiles; each has the gateway URL `/mcp/NAME`.",
            {200: response("All of them.", array(ref("Profile")), [_WORK])},
            tags=_TAGS,
        ),
        "post": operation(
            "createProfile",
            "Create a profile: a selection of servers and tools.",
            {201: response("The profile.", ref("Profile"), _WORK)},
            (409, 507),
            tags=_TAGS,
            requestBody=body(ref("NewProfile"), {"work": _WORK}),
        ),
    },
    "/api/profiles/{profile}": {
        "parameters": [parameter("profile")],
        "get": operation(
            "showProfile",
            "Show one profile.",
            {200: response("The profile.", ref("Profile"), _WORK)},
            (404,),
            tags=_TAGS,
        ),
        "put": operation(
            "replaceProfile",
            "Replace a profile.",
            {200: response("The profile.", ref("Profile"), _WORK)},
            (404, 507),
            tags=_TAGS,
            requestBody=body(ref("ProfileBody"), {"work": _SAID}),
        ),
        "delete": operation(
            "removeProfile",
            "Remove a profile and its URL.",
            {204: _NOTHING},
            (404, 507),
            tags=_TAGS,
        ),
    },
}
