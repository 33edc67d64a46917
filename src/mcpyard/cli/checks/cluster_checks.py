"""Checks of a cluster: its database, and the certificates of this node."""

import asyncio
import itertools
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from mcpyard.cli.checks.findings import Check, bad, doubtful, good
from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.cluster_settings import (
    ADDRESS_VARIABLE,
    cluster_dsn,
    cluster_key,
    older_cluster_key,
)
from mcpyard.cli.daemon.last_options import last_options
from mcpyard.cli.printing import decode_object
from mcpyard.client.discovery import find_yard
from mcpyard.domain.errors import YardError
from mcpyard.domain.remedies import remedy

_SOON: Final = timedelta(days=30)


class _LastNode(Struct, frozen=True):
    """The node that the home was the last time."""

    name: str
    certificates: Path
    dsn_file: Path | None


async def examine_cluster(home: Path) -> list[Check]:
    """The checks of the cluster that this machine is set up for; none without one."""
    node = _last_node(home)
    if node is None and not os.environ.get(ADDRESS_VARIABLE):
        return []
    checks = await asyncio.to_thread(lambda: [*_database(node.dsn_file if node else None)])
    nodes = await asyncio.to_thread(lambda: [*_nodes(home)])
    return [*checks, *(_certificates(node) if node else ()), *nodes]


def _nodes(home: Path) -> Iterator[Check]:
    """What the node that runs now says of the others; nothing while it does not run."""
    try:
        yard = find_yard(home)
        cluster = decode_object(yard.get("/api/cluster")) if yard else {"nodes": ()}
    except (CliError, YardError):
        # The check of the running mcpyard says that, and a mcpyard without a cluster has no nodes.
        return
    present = [each for each in cluster["nodes"] if each["state"] != "left"]
    lost = [each for each in present if not each["reachable"]]
    if lost:
        whys = [f"{each['name']}: {each.get('problem') or 'no link to it yet'}" for each in lost]
        fix = "check that it runs, and upgrade it where it is older than the others"
        yield bad("cluster nodes", f"cannot be reached: {'; '.join(whys)}", fix)
    elif present:
        yield good("cluster nodes", f"every node can be reached ({len(present)})")


def _last_node(home: Path) -> _LastNode | None:
    last = last_options(home)
    words = last.arguments if last else ()
    values = dict(itertools.pairwise(words))
    name, certificates = values.get("--node"), values.get("--node-certs")
    if not name or not certificates:
        return None
    file = values.get("--cluster")
    return _LastNode(name, Path(certificates), Path(file) if file else None)


def _database(file: Path | None) -> Iterator[Check]:
    check = "cluster database"
    try:
        dsn, key = cluster_dsn(file), cluster_key()
        from mcpyard.store.postgres.diagnosis import diagnose

        facts = diagnose(dsn, key, older_cluster_key())
    except CliError as error:
        yield bad(check, str(error), str(error.problem["hint"]))
        return
    except YardError as error:
        yield bad(check, error.message, remedy(error))
        return
    schema = f"schema version {facts.schema}"
    yield good(check, f"PostgreSQL {facts.server} answers, {schema}, the key fits")
    if facts.hints:
        yield good("cluster changes", "hints of changes arrive")
    else:
        fix = "connect to PostgreSQL itself, or use a pooler in session mode"
        yield doubtful("cluster changes", "no hints arrive: nodes ask once a second", fix)
    if facts.asynchronous:
        message = f"{facts.asynchronous} asynchronous: a fail-over may run a singleton twice"
        fix = "set synchronous_standby_names in PostgreSQL, or define no singletons"
        yield doubtful("cluster replicas", message, fix)


def _certificates(node: _LastNode) -> Iterator[Check]:
    from mcpyard.mesh.certificates import NodeCertificates, NodeFiles, end_of

    files, check = NodeFiles.of(node.certificates, node.name), "node certificate"
    try:
        NodeCertificates(node.name, files)
        ends = min(end_of(files.certificate), end_of(files.authority))
    except YardError as error:
        yield bad(check, error.message, remedy(error))
        return
    message = f"of {node.name}, valid until {ends.date()}"
    if ends - datetime.now(UTC) < _SOON:
        in_place = "put the files of a new one in place of the old ones, without a restart"
        fix = f"{in_place}: mcpyard cluster cert {node.name}"
        yield doubtful(check, message, fix)
    else:
        yield good(check, message)
