"""`mcpyard doctor`: what works, what does not, and what to do about it."""

import asyncio
import json
import shlex
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from mcpyard.app import Yard
from mcpyard.cli.findings import Check, Result, bad, doubtful, good
from mcpyard.cli.known_servers import KnownServers, find_known, find_servers
from mcpyard.cli.machine import examine_machine
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.private import private_yard, run_privately, told_of
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
    """Print every finding; 1 where something fails."""
    findings = run_privately(_examine(home, project))
    failed = any(each.status is Result.FAIL for each in findings)
    if as_json:
        print(json.dumps({"ok": not failed, "findings": [asdict(each) for each in findings]}))
    else:
        _print(findings)
    return 1 if failed else 0


async def _examine(home: Path, project: Path | None) -> list[Check]:
    try:
        found = _find(home, project)
    except DocumentBroken as error:
        told = bad("project file", error.message, remedy(error))
        return [*await examine_machine(home), told]
    findings = await examine_machine(home, _programs(found))
    findings += [*_documents(found), *_variables(found.servers.values())]
    return [*findings, *await _handshakes(found)]


def _find(home: Path, project: Path | None) -> KnownServers:
    try:
        return find_known(home, project)
    except (StateBroken, NewerState, StorageFull):
        # A finding of its own; the project and the environment are looked at all the same.
        return find_servers(project)


def _programs(found: KnownServers) -> set[str]:
    configs = (each.config for each in found.servers.values() if each.config.enabled)
    return {Path(each.program).name for each in configs if isinstance(each, LocalConfig)}


def _documents(found: KnownServers) -> Iterator[Check]:
    project, environment, *_ = found.documents
    if not found.path.exists():
        yield good("project file", f"none at {found.path}")
    else:
        yield from _document("project file", project, f"{found.path}: ")
    yield from _document("environment", environment, "")


def _document(check: str, document: Document, place: str) -> Iterator[Check]:
    for problem in document.problems:
        yield bad(check, str(problem), "correct the entry; the others are used")
    for warning in _warnings(document):
        yield doubtful(check, str(warning), "correct it, to be understood by every program")
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
            fix = "set it where mcpyard is started, or write ${NAME:-default}"
            yield bad(f"variables of {server.name}", str(problem), fix)


async def _handshakes(found: KnownServers) -> list[Check]:
    servers = [
        each
        for each in found.servers.values()
        if each.owner.scope is not Scope.USER
        and each.config.enabled
        and not isinstance(each.launch, Unlaunchable)
    ]
    approved = [each for each in servers if found.may_run(each)]
    held = len(servers) - len(approved)
    fix = f"read the file, then: mcpyard approve {shlex.quote(str(found.path.parent))}"
    told = [doubtful("servers", f"{held} not started: approval needed", fix)] if held else []
    if not approved:
        return told
    began = time.perf_counter()
    async with private_yard(*approved) as yard:
        shaken = (_handshake(yard, each.name, began) for each in approved)
        return [*told, *await asyncio.gather(*shaken)]


async def _handshake(yard: Yard, name: str, began: float) -> Check:
    record = await told_of(yard, name)
    if record.phase == "connected":
        ms = round((time.perf_counter() - began) * 1000)
        spoken = f"MCP {record.protocol_version}, {record.tool_count} tools"
        return good(f"server {name}", f"connected in {ms} ms: {spoken}")
    why, hint = reason(record.to_dict())
    return bad(f"server {name}", why, hint)


def _print(findings: Sequence[Check]) -> None:
    rows = [
        (str(each.status), clean(each.check), one_line(each.message), clean(each.fix))
        for each in findings
    ]
    table(("STATUS", "CHECK", "FOUND", "FIX"), rows)
