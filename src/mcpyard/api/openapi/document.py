"""The document, put together, and its route."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard import __version__
from mcpyard.api.openapi.builders import Json, Operations, paths, query, ref
from mcpyard.api.openapi.clients import CLIENTS
from mcpyard.api.openapi.cluster import CLUSTER
from mcpyard.api.openapi.content import CONTENT
from mcpyard.api.openapi.derived import derived
from mcpyard.api.openapi.schemas import SCHEMAS
from mcpyard.api.openapi.servers import SERVERS, TOOLS, WORKBENCH
from mcpyard.api.openapi.sync import SYNC
from mcpyard.api.openapi.system import DOORS, PROFILES, SECRETS, YARD
from mcpyard.api.problems import REFUSALS, problem
from mcpyard.api.requests import LONGEST_WAIT, WAIT
from mcpyard.api.responses import JSON, PROBLEM, encode
from mcpyard.domain.edges import EDGES

_SECTIONS: Final[Mapping[str, tuple[str, Operations]]] = {
    "servers": ("Servers.", SERVERS),
    "tools": ("Tools.", TOOLS),
    "content": ("Resources, prompts and log messages of servers.", CONTENT),
    "workbench": ("Parsing, testing and importing definitions.", WORKBENCH),
    "clients": ("Servers in the files of other clients.", CLIENTS),
    "sync": ("One set of servers in every client.", SYNC),
    "cluster": ("More than one machine.", CLUSTER),
    "yard": ("Calls, events, health and metrics.", YARD),
    "gateway": ("Profiles of the gateway.", PROFILES),
    "secrets": ("Stored secrets.", SECRETS),
    "doors": ("Tokens, sign-in and project approval.", DOORS),
}

_MEANINGS: Final = {
    400: "The body is not JSON or nested too deep, or a header is duplicated.",
    401: "The token is missing or wrong.",
    403: "The request comes from a page of another origin, or the token does not give access.",
    404: "There is no such route, server, tool, call, profile, edit, secret or token.",
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
    503: "The database of the cluster cannot be reached, or this node is isolated.",
    504: "A timeout expired.",
    507: "The disk is full, the folder is not writable, or the home is gone; nothing was changed.",
}


async def openapi(_request: Request) -> Response:
    """The OpenAPI document."""
    return Response(_encoded(), media_type=JSON)


@cache
def _encoded() -> bytes:
    return encode(document())


def document() -> Json:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mcpyard",
            "version": __version__,
            "summary": "Runs, supervises and exposes MCP servers.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "security": [{"bearer": []}],
        "tags": [{"name": tag, "description": each} for tag, (each, _) in _SECTIONS.items()],
        "paths": {
            path: item
            for tag, (_, operations) in _SECTIONS.items()
            for path, item in paths(tag, operations).items()
        },
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
            "schemas": derived() | SCHEMAS,
        },
    }


def _path(name: str, description: str, **schema: object) -> Json:
    parameter = query(name, description, minLength=1, **schema)
    return {**parameter, "in": "path", "required": True}


_PARAMETERS: Final[Json] = {
    "ref": _path("ref", "The id or the name of a server, percent-encoded."),
    "node": _path("node", "The name of a node, percent-encoded."),
    "client": _path("client", "The id or an alias of a client."),
    "name": _path("name", "The name of a server in its file, percent-encoded."),
    "tool": _path("tool", "The server's own name for a tool, percent-encoded."),
    "prompt": _path("prompt", "The server's own name for a prompt, percent-encoded."),
    "exposed": _path("exposed", "The exposed name of a tool."),
    "profile": _path("profile", "The name of a profile, percent-encoded."),
    "secret": _path("secret", "The name of a secret.", pattern="^[A-Za-z_][A-Za-z0-9_]{0,199}$"),
    "token": _path("token", "The id or the name of a call token, percent-encoded."),
    "call": _path("call", "The id of a call."),
    "wait": query(
        "wait",
        "Seconds to wait for the requested state; the response is sent in any case.",
        type="number",
        minimum=0,
        maximum=LONGEST_WAIT,
        default=WAIT,
    ),
}


def _problem(status: int, meaning: str) -> Json:
    types = [slug for slug, each in REFUSALS.items() if each.status == status]
    types += [each.problem for each in EDGES.values() if each.status == status]
    kinds = ", ".join(f"`{each}`" for each in types)
    example = problem(status, types[0], meaning).to_dict()
    content = {PROBLEM: {"schema": ref("Problem"), "example": example}}
    return {"description": f"{meaning} Types: {kinds}.", "content": content}
