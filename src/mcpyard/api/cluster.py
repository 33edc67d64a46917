"""The routes of the cluster that mcpyard is a node of."""

from typing import Final

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpyard.api import requests
from mcpyard.api.bodies import MoveBody
from mcpyard.api.responses import answer
from mcpyard.asgi_scope import caller_name
from mcpyard.yard.cluster_operations import ClusterOperations
from mcpyard.yard.yard import YardCore

_REST: Final = "rest"


class ClusterRoutes:
    """Shows and changes the cluster of one yard."""

    def __init__(self, cluster: ClusterOperations) -> None:
        self._cluster = cluster

    async def cluster(self, request: Request) -> Response:
        """The nodes, and on demand where each server runs, and what happened last."""
        placements = requests.flag(request, "placements", default=False)
        events = requests.flag(request, "events", default=False)
        view = self._cluster.view(events=events)
        if placements:
            view = replace(view, placements=await self._cluster.placements())
        return answer(view)

    async def drain(self, request: Request) -> Response:
        """Have other nodes run the servers of a node, or tell what that would do."""
        node = requests.part(request, "node")
        if requests.flag(request, "dryRun", default=False):
            return answer(self._cluster.plan_drain(node))
        return answer(await self._cluster.drain(node, by=_who(request)))

    async def forget(self, request: Request) -> Response:
        """Take a node out."""
        await self._cluster.forget(requests.part(request, "node"), by=_who(request))
        return Response(status_code=204)

    async def rebalance(self, request: Request) -> Response:
        """Even out how full the nodes are."""
        return answer(await self._cluster.rebalance(by=_who(request)))

    async def move(self, request: Request) -> Response:
        """Have another node run a server, or tell what that would do."""
        ref, body = requests.part(request, "ref"), await requests.read(request, MoveBody)
        if body.dry_run:
            return answer(self._cluster.plan_move(ref, body.node))
        return answer(await self._cluster.move(ref, body.node, by=_who(request)))


def _who(request: Request) -> str:
    return caller_name(request.scope, _REST)


def cluster_routes(yard: YardCore) -> list[Route]:
    """Every route of the cluster."""
    routes, one = ClusterRoutes(yard.cluster), "/api/cluster/nodes/{node}"
    return [
        Route("/api/cluster", routes.cluster),
        Route("/api/cluster/rebalance", routes.rebalance, methods=["POST"]),
        Route(f"{one}/drain", routes.drain, methods=["POST"]),
        Route(one, routes.forget, methods=["DELETE"]),
        Route("/api/mcp/servers/{ref}/move", routes.move, methods=["POST"]),
    ]
