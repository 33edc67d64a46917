"""`mcpyard doctor`: checks of this machine and of the definitions, with fixes."""

import asyncio
import json
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from mcpyard.app import WiredYard
from mcpyard.cli.checks.cluster_checks import examine_cluster
from mcpyard.cli.checks.findings import Check, Result, bad, doubtful, good
from mcpyard.cli.checks.machine_checks import examine_machine
from mcpyard.cli.known_servers import KnownServers, find_known, find_servers
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.private import private_yard, run_privately, settled_record
from mcpyard.cli.status_words import reason
from mcpyard.domain.definition.launch import Unlaunchable
from mcpyard.domain.desired import DesiredServer, Document
from mcpyard.domain.errors import (
    DocumentBroken,
    NewerState,
    Problem,
    StateBroken,
    StorageFull,
)
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.domain.remedies import remedy


def examine(home: Path, project: Path | None, *, as_json: bool) -> int:
    """Print every check; exits with 1 if one fails."""
    findings = run_privately(_examine(home, project))
    failed = any(each.status is Result.FAIL for each in findings)
    if as_json:
        print(json.dumps({"ok": not failed, "findings": [asdict(each) for each in findings]}))
    else:
        _print(findings)
    return 1 if failed else 0


async def _examine(home: Path, project: Path | None) -> list[Check]:
    try:
        definitions = _find(home, project)
    except DocumentBroken as error:
        broken = bad("project file", error.message, remedy(error))
        return [*await examine_machine(home), broken]
    checks = await examine_machine(home, _programs(definitions))
    checks += [*_documents(definitions), *_variables(definitions.servers.values())]
    return [*checks, *await examine_cluster(home), *await _handshakes(definitions)]


def _find(home: Path, project: Path | None) -> KnownServers:
    try:
        return find_known(home, project)
    except (StateBroken, NewerState, StorageFull):
        # That has a check of its own; the project and the environment are checked nevertheless.
        return find_servers(project)


def _programs(definitions: KnownServers) -> set[str]:
    configs = (each.config for each in definitions.servers.values() if each.config.enabled)
    return {Path(each.program).name for each in configs if isinstance(each, LocalConfig)}


def _documents(definitions: KnownServers) -> Iterator[Check]:
    project, environment, *_ = definitions.documents
    if not definitions.path.exists():
        yield good("project file", f"none at {definitions.path}")
    else:
        yield from _document("project file", project, f"{definitions.path}: ")
    yield from _document("environment", environment, "")


def _document(check: str, document: Document, place: str) -> Iterator[Check]:
    for problem in document.problems:
        yield bad(check, str(problem), "fix this entry; the others are used")
    for warning in _warnings(document):
        yield doubtful(check, str(warning), "fix it, so that every client reads it the same way")
    if not document.problems:
        yield good(check, f"{place}{len(document.definitions)} servers defined")


def _warnings(document: Document) -> Iterator[Problem]:
    yield from document.warnings
    for definition in document.definitions:
        yield from definition.warnings


def _variables(servers: Iterable[DesiredServer]) -> Iterator[Check]:
    for server in servers:
        problems = server.launch.problems if isinstance(server.launch, Unlaunchable) else ()
        for problem in problems:
            fix = "set the variable or mcpyard secret set NAME, or use ${NAME:-default}"
            yield bad(f"variables of {server.name}", str(problem), fix)


async def _handshakes(definitions: KnownServers) -> list[Check]:
    servers = [
        each
        for each in definitions.servers.values()
        if each.owner.scope is not Scope.USER
        and each.config.enabled
        and not isinstance(each.launch, Unlaunchable)
        # Stored secrets are for the yard that runs them.
        and not each.launch.secrets
    ]
    approved = [each for each in servers if not each.held]
    unapproved = len(servers) - len(approved)
    fix = f"check the file, then: mcpyard approve {shlex.quote(str(definitions.path.parent))}"
    message = f"{unapproved} not started: approval needed"
    checks = [doubtful("servers", message, fix)] if unapproved else []
    if not approved:
        return checks
    began = time.perf_counter()
    async with private_yard(*approved) as yard:
        handshakes = (_handshake(yard, each.name, began) for each in approved)
        return [*checks, *await asyncio.gather(*handshakes)]


async def _handshake(yard: WiredYard, name: str, began: float) -> Check:
    record = await settled_record(yard, name)
    if record.phase == "connected":
        ms = round((time.perf_counter() - began) * 1000)
        details = f"MCP {record.protocol_version}, {record.tool_count} tools"
        return good(f"server {name}", f"connected in {ms} ms: {details}")
    why, hint = reason(record.to_dict())
    return bad(f"server {name}", why, hint)


def _print(findings: Sequence[Check]) -> None:
    rows = [
        (str(each.status), clean(each.check), one_line(each.message), clean(each.fix))
        for each in findings
    ]
    table(("STATUS", "CHECK", "RESULT", "FIX"), rows)
