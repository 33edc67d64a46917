"""The operations on one set of servers in every client."""

from typing import Final

from mcpyard.api.openapi.builders import Operations, body, one, operation, query

_PROJECT: Final = query(
    "project", "The project folder, an absolute path; default the project of mcpyard.", pattern="^/"
)
_SYNC: Final = one("Sync", "Servers by clients, and what changes.")

SYNC: Final[Operations] = {
    "GET /api/sync showSync": operation(
        "Show every server and every client that is found: which are to have it, what their files "
        "say, and what a sync would change. An entry for the gateway is compared with the command "
        "`mcpyard stdio`.",
        one("SyncMatrix", "Assignments, and the plan."),
        *(404, 409, 422),
        parameters=[_PROJECT],
    ),
    "PUT /api/sync/assignments putSyncAssignments": operation(
        "Change which clients are to have which servers, in the `mcpyard.toml` in the home of "
        "mcpyard. Writes no file of a client.",
        one("Done", "The difference of that file, and the number to undo it by."),
        *(404, 409, 412, 422, 507),
        requestBody=body("AssignmentsRequest"),
    ),
    "POST /api/sync/plan planSync": operation(
        "Compare the servers of mcpyard, and of the `mcpyard.toml` of a project, with the files of "
        "the clients that are to have them. Changes nothing.",
        _SYNC,
        *(404, 409, 422),
        requestBody=body("SyncRequest"),
    ),
    "POST /api/sync/apply applySync": operation(
        "Write and remove the entries that differ, in one edit. Entries that somebody else wrote "
        "or changed are left alone unless a decision names them.",
        _SYNC,
        *(404, 409, 412, 422, 507),
        requestBody=body("SyncRequest"),
    ),
    "POST /api/sync/adopt adoptClientServers": operation(
        "Take the servers of clients into the source of a sync. A name that is defined "
        "differently is left out unless `chosen` names the client whose entry counts.",
        one("Adoption", "What became of each name."),
        *(404, 409, 412, 422, 507),
        requestBody=body("AdoptRequest"),
    ),
    "GET /api/sync/waiting listSyncWaiting": operation(
        "Show what of the `mcpyard.toml` of a project needs approval, before it is written outside "
        "of the project or by `up --sync`.",
        one("WaitingFolder", "What waits, with the digest that an approval names."),
        *(409, 422),
        parameters=[_PROJECT],
    ),
    "POST /api/sync/approve approveSync": operation(
        "Approve what was shown of the `mcpyard.toml` of a project.",
        one("Approved", "What was approved."),
        *(409, 412, 422, 507),
        requestBody=body("SyncApproval"),
    ),
}
