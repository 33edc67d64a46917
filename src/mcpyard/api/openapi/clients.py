"""The operations on the servers of other clients."""

from typing import Final

from mcpyard.api.openapi.builders import Json, Operations, body, many, one, operation, query

_ENTRY: Final = "/api/clients/{client}/servers/{name}"
_PROJECT: Final = query(
    "project", "The project folder, an absolute path; default the project of mcpyard.", pattern="^/"
)
_SCOPE: Final = query("scope", "One of the client's scopes; default the first.")
_DRY: Final = query("dryRun", "Preview only.", type="boolean")
_UNVERIFIED: Final = query(
    "unverified", "Write to a client that is known from documentation only.", type="boolean"
)
_DONE: Final = one("Done", "What changed, or would.")


def _change(summary: str, answers: Json = _DONE, **more: object) -> Json:
    return operation(summary, answers, 404, 409, 412, 422, 507, **more)


def _look(summary: str, answers: Json) -> Json:
    return operation(summary, answers, 409, 422, parameters=[_PROJECT])


CLIENTS: Final[Operations] = {
    "GET /api/clients listClients": _look(
        "List the scopes of every client and of mcpyard, with their servers and the effective "
        "state of each.",
        many("ClientGroup", "By client."),
    ),
    "POST /api/clients/copy copyClientServer": _change(
        "Copy a server from one client to another, or move it. Fields that the target does "
        "not support are dropped with a warning; `dryRun` writes nothing.",
        requestBody=body("Copy"),
    ),
    "POST /api/clients/copies copyClientServers": _change(
        "Copy several servers of one client to several others, in one edit. A server that cannot "
        "be copied is left out with the reason; `dryRun` writes nothing.",
        one("Copies", "What changed, or would, and what became of each copy."),
        requestBody=body("CopyMany"),
    ),
    "POST /api/clients/undo undoClientEdit": _change(
        "Undo one of the last 100 edits; default the newest that is not undone. If two "
        "requests undo the same edit, the second gets a 404.",
        requestBody=body("Undo"),
    ),
    "GET /api/clients/edits listClientEdits": operation(
        "List the last edits, newest first.", many("Edit", "At most 100."), 409
    ),
    "GET /api/clients/lint lintClients": _look(
        "Check the files of all clients against the rules of each client.",
        many("Finding", "What was found."),
    ),
    "GET /api/clients/drift compareClients": _look(
        "List servers that are defined differently in several places.", many("Drift", "By name.")
    ),
    "GET /api/clients/seen listSeenClients": operation(
        "List the clients that were seen at the gateway, by the names that they give themselves.",
        many("SeenClient", "The one that was heard of last first."),
    ),
    _ENTRY: [_SCOPE, _PROJECT],
    f"GET {_ENTRY} showClientServer": operation(
        "Show one server of a client, with all fields of its entry.",
        one("ClientServer", "The server."),
        *(404, 409, 422),
    ),
    f"PATCH {_ENTRY} changeClientServer": _change(
        "Change a server in the file of its client: one entry changes, the rest of the "
        "file stays untouched. `name` renames it, `enabled` enables or disables it.",
        parameters=[_DRY, _UNVERIFIED],
        requestBody=body("ClientChange", patch=True),
    ),
    f"DELETE {_ENTRY} removeClientServer": _change(
        "Remove a server from the file of its client.", parameters=[_DRY, _UNVERIFIED]
    ),
    "POST /api/clients/connect connectClient": _change(
        "Add the gateway to a client's configuration: as a command that needs no token, or "
        "as a URL with a new call token. If the client can read the token from an "
        "environment variable, the token is not written but returned, only once.",
        one("Connected", "What changed, or would."),
        requestBody=body("Connect"),
    ),
    "POST /api/clients/disconnect disconnectClient": _change(
        "Remove every entry of the gateway from a client's configuration; `undo` puts them back. "
        "A call token that the entry used stays valid until it is revoked.",
        requestBody=body("Disconnect"),
    ),
}
