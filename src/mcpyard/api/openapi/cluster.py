"""The operations on the cluster that mcpyard is a node of."""

from typing import Final

from mcpyard.api.openapi.builders import (
    Json,
    Operations,
    answer,
    body,
    many,
    nothing,
    one,
    operation,
    query,
    ref,
)
from mcpyard.api.openapi.examples import ANSWERS
from mcpyard.api.responses import JSON

_CLUSTER: Final = one("Cluster", "The cluster, as the node that answers sees it.")

_YES_OR_NO: Final = "1 or 0"


def _or_plan(name: str, description: str) -> Json:
    """The thing of that name, or what would be done."""
    schema: Json = {"anyOf": [ref(name), ref("MovePlan")]}
    return answer(description, {JSON: {"schema": schema, "example": ANSWERS[name]}})


CLUSTER: Final[Operations] = {
    "GET /api/cluster showCluster": operation(
        "Show the nodes of the cluster.",
        _CLUSTER,
        404,
        parameters=[
            query("placements", f"Whether to tell where each server runs, and why: {_YES_OR_NO}."),
            query("events", f"Whether to tell what happened last: {_YES_OR_NO}."),
        ],
    ),
    "POST /api/cluster/rebalance rebalanceCluster": operation(
        "Move servers from the fullest nodes to the emptiest ones.",
        many("Placement", "What moves."),
        *(404, 503),
    ),
    "POST /api/cluster/nodes/{node}/drain drainNode": operation(
        "Place no further servers on a node, and move those that it has to others.",
        _or_plan("Cluster", "The cluster, or for a dry run where each server would go."),
        *(404, 503),
        parameters=[query("dryRun", f"Only tell what would be: {_YES_OR_NO}.")],
    ),
    "DELETE /api/cluster/nodes/{node} forgetNode": operation(
        "Remove a node that is gone; its name is refused from then on.",
        nothing(),
        *(404, 409, 503),
    ),
    "POST /api/mcp/servers/{ref}/move moveServer": operation(
        "Have another node run a server.",
        _or_plan("Placement", "Where it runs, and where it will; for a dry run the plan."),
        *(404, 503),
        requestBody=body("Move"),
    ),
}
