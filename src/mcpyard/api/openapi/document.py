"""The document, put together."""

from importlib.metadata import version
from typing import Final

from mcpyard.api.openapi.builders import Json, problem_answer, query
from mcpyard.api.openapi.clients import CLIENT_SCHEMAS, CLIENTS
from mcpyard.api.openapi.connecting import CONNECT_SCHEMAS, CONNECTING
from mcpyard.api.openapi.derived import derived
from mcpyard.api.openapi.profiles import PROFILE_SCHEMAS, PROFILES
from mcpyard.api.openapi.projects import PROJECT_SCHEMAS, PROJECTS
from mcpyard.api.openapi.schemas import SCHEMAS
from mcpyard.api.openapi.servers import SERVERS, TOOLS
from mcpyard.api.openapi.signin import SIGNING_IN
from mcpyard.api.openapi.system import WORKBENCH, YARD
from mcpyard.api.openapi.tokens import DOOR_SCHEMAS, DOORS
from mcpyard.api.problems import REFUSALS, problem
from mcpyard.api.requests import LONGEST_WAIT, WAIT
from mcpyard.domain.errors import EDGES

PATHS: Final[Json] = (
    SERVERS
    | TOOLS
    | WORKBENCH
    | YARD
    | PROFILES
    | CLIENTS
    | CONNECTING
    | DOORS
    | PROJECTS
    | SIGNING_IN
)

_TAGS: Final = {
    "servers": "Servers.",
    "tools": "Tools.",
    "workbench": "Parsing, testing and importing definitions.",
    "clients": "Servers in the files of other clients.",
    "yard": "Calls, events, health and metrics.",
    "gateway": "Profiles of the gateway.",
    "doors": "Tokens, sign-in and project approval.",
}

_MEANINGS: Final = {
    400: "The body is not JSON or nested too deep, or a header is duplicated.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another origin, or the token does not give access.",
    404: "There is no such route, server, tool, profile, edit or token.",
    405: "The route does not support this method.",
    409: "The request conflicts with the current state.",
    412: "The record changed since the caller read it.",
    413: "The request exceeds a size limit.",
    415: "The content type is not JSON.",
    421: "The `Host` header is not allowed.",
    422: "The input is invalid; the problems name the fields, and nothing was changed.",
    429: "Too many calls of the server or of the token are in flight.",
    500: "An internal error of mcpyard.",
    502: "The MCP server failed; the problem has the cause and the last log lines.",
    504: "A timeout expired.",
    507: "The disk is full, the folder is not writable, or the home is gone; nothing was changed.",
}


def document() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mcpyard",
            "version": version("mcpyard"),
            "summary": "Runs, supervises and exposes MCP servers.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"bearer": []}],
        "tags": [{"name": name, "description": response} for name, response in _TAGS.items()],
        "paths": PATHS,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The admin token, in the file `token` in the home.",
                }
            },
            "parameters": _PARAMETERS,
            "responses": {
                f"Problem{status}": _problem(status, meaning)
                for status, meaning in _MEANINGS.items()
            },
            "schemas": derived()
            | SCHEMAS
            | DOOR_SCHEMAS
            | PROJECT_SCHEMAS
            | PROFILE_SCHEMAS
            | CLIENT_SCHEMAS
            | CONNECT_SCHEMAS,
        },
    }


def _path(name: str, description: str) -> Json:
    schema: Json = {"type": "string", "minLength": 1}
    head: Json = {"name": name, "in": "path", "required": True}
    return {**head, "description": description, "schema": schema}


_PARAMETERS: Final[Json] = {
    "ref": _path("ref", "The id or the name of a server, percent-encoded."),
    "client": _path("client", "The id or an alias of a client."),
    "name": _path("name", "The name of a server in its file, percent-encoded."),
    "tool": _path("tool", "The server's own name for a tool, percent-encoded."),
    "exposed": _path("exposed", "The exposed name of a tool."),
    "profile": _path("profile", "The name of a profile, percent-encoded."),
    "token": _path("token", "The id or the name of a call token, percent-encoded."),
    "wait": query(
        "wait",
        "Seconds to wait for the requested state; the response is sent in any case.",
        {"type": "number", "minimum": 0, "maximum": LONGEST_WAIT, "default": WAIT},
    ),
}


def _problem(status: int, meaning: str) -> Json:
    types = [slug for slug, each in REFUSALS.items() if each.status == status]
    types += [each.problem for each in EDGES.values() if each.status == status]
    kinds = ", ".join(f"`{each}`" for each in types)
    return problem_answer(
        f"{meaning} Types: {kinds}.", problem(status, types[0], meaning).to_dict()
    )
