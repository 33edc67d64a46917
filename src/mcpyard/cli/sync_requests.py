"""Requests of a sync to mcpyard itself, in the words of the REST API."""

from typing import Any

from mcpyard.domain.sync.plan import Choice
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.sync import Sync
from mcpyard.yard.sync.syncing import SyncDecision
from mcpyard.yard.views.base import View


async def ask_sync(sync: Sync, what: str, body: dict[str, Any]) -> View:
    """Plan, apply, adopt or approve a sync, or show what waits for approval."""
    terms = EditTerms(
        body["project"],
        body.get("dryRun", False),
        who="cli",
        unverified=body.get("unverified", False),
    )
    if what == "waiting":
        return await sync.waiting(terms)
    if what == "approve":
        return await sync.approve(body["digest"], terms)
    targets = tuple(body["targets"])
    if what == "adopt":
        return await sync.adopt(body["chosen"], SyncRequest(targets), terms)
    decisions = {
        (it["target"], it["server"]): SyncDecision(Choice(it["choice"]), it["seen"])
        for it in body["decisions"]
    }
    request = SyncRequest(targets, tuple(body["command"]), decisions, check=body["check"])
    return await (sync.plan(request, terms) if what == "plan" else sync.apply(request, terms))
