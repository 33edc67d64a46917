"""The routes of one set of servers in every program."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpyard.api import requests
from mcpyard.api.bodies import AdoptBody, AssignmentsBody, SyncApprovalBody, SyncBody
from mcpyard.api.clients import REST, project_of
from mcpyard.api.responses import answer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.sync.assignments import Assignment
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.sync import Sync
from mcpyard.yard.sync.syncing import SyncDecision
from mcpyard.yard.views.clients import change_view
from mcpyard.yard.yard import YardCore


class SyncRoutes:
    """Plans and applies what one yard keeps in other programs."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def matrix(self, request: Request) -> Response:
        """What is wanted in every client that is found, and what is true."""
        terms = _terms(request.query_params.get("project"))
        return answer(await self._sync.matrix(terms=terms))

    async def assign(self, request: Request) -> Response:
        """Change what is wanted."""
        body = await requests.read(request, AssignmentsBody)
        assignments = [
            Assignment(each.server, each.target, each.wanted) for each in body.assignments
        ]
        done = await self._sync.assign(assignments, _terms(body.project, dry_run=body.dry_run))
        return answer(change_view(done))

    async def plan(self, request: Request) -> Response:
        """What would change."""
        body = await requests.read(request, SyncBody)
        return answer(await self._sync.plan(_request(body), _terms(body.project)))

    async def apply(self, request: Request) -> Response:
        """Change what differs."""
        body = await requests.read(request, SyncBody)
        return answer(
            await self._sync.apply(_request(body), _terms(body.project, unverified=body.unverified))
        )

    async def adopt(self, request: Request) -> Response:
        """Take what programs have into the source."""
        body = await requests.read(request, AdoptBody)
        terms = _terms(body.project, dry_run=body.dry_run)
        request_of_body = SyncRequest(tuple(body.targets), everywhere=body.everywhere)
        return answer(await self._sync.adopt(body.chosen, request_of_body, terms))

    async def waiting(self, request: Request) -> Response:
        """What of a repository's file needs approval."""
        return answer(await self._sync.waiting(_terms(request.query_params.get("project"))))

    async def approve(self, request: Request) -> Response:
        """Approve what was shown."""
        body = await requests.read(request, SyncApprovalBody)
        return answer(await self._sync.approve(body.digest, _terms(body.project)))

    @property
    def _sync(self) -> Sync:
        return self._yard.clients.sync


def sync_routes(yard: YardCore) -> list[Route]:
    """Every route of one set of servers in every program."""
    sync = SyncRoutes(yard)
    return [
        Route("/api/sync", sync.matrix),
        Route("/api/sync/assignments", sync.assign, methods=["PUT"]),
        Route("/api/sync/plan", sync.plan, methods=["POST"]),
        Route("/api/sync/apply", sync.apply, methods=["POST"]),
        Route("/api/sync/adopt", sync.adopt, methods=["POST"]),
        Route("/api/sync/waiting", sync.waiting),
        Route("/api/sync/approve", sync.approve, methods=["POST"]),
    ]


def _request(body: SyncBody) -> SyncRequest:
    if not body.command:
        raise ArgumentsRefused.of(Problem("command", "must be a list of strings"))
    decisions = {(it.target, it.server): SyncDecision(it.choice, it.seen) for it in body.decisions}
    return SyncRequest(
        tuple(body.targets),
        tuple(body.command),
        decisions,
        check=body.check,
        everywhere=body.everywhere,
    )


def _terms(project: str | None, *, dry_run: bool = False, unverified: bool = False) -> EditTerms:
    return EditTerms(project_of(project), dry_run, who=REST, unverified=unverified)
