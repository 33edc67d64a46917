"""`mcpyard cluster ray`: a node on each machine of a Ray cluster.

Ray starts the daemons and starts them again; it decides nothing else. Where servers run, and what
may run them, is PostgreSQL's to say, so calls go on while Ray's head is away.
"""

import importlib
import ipaddress
import json
import os
import re
import socket
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from mcpyard.cli.cli_errors import CliError, usage
from mcpyard.cli.cluster_settings import (
    ADDRESS_VARIABLE,
    KEY_VARIABLE,
    OLDER_KEY_VARIABLE,
    cluster_dsn,
    cluster_key,
)
from mcpyard.cli.daemon.hosted_node import HostedNode, NodeHost
from mcpyard.cli.output import clean, table
from mcpyard.domain.edges import EXIT_UNREACHABLE
from mcpyard.mesh.certificates import make_certificate

_NAMESPACE: Final = "mcpyard"
_TOKEN_VARIABLE: Final = "MCPYARD_TOKEN"  # noqa: S105  a name
_HEAD: Final = "node:__internal_head__"
_READY_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 40.0
_CONNECT_SECONDS: Final = 5.0
_LITTLE: Final = 0.001
"""Of the resource that binds an actor to a machine."""


class RayOptions(Struct, frozen=True):
    """Which Ray cluster, and how its nodes listen."""

    authority: Path
    cluster_file: Path | None
    address: str
    port: int
    node_port: int
    insecure: bool
    more: tuple[str, ...]


def use_ray(names: Sequence[str], options: RayOptions, *, as_json: bool) -> int:
    """Run a node on each machine of a Ray cluster, or end them all."""
    match [*names]:
        case ["up"]:
            return _up(options, as_json=as_json)
        case ["down"]:
            return _down(options, as_json=as_json)
        case _:
            raise usage("cluster ray needs up or down", "for example: mcpyard cluster ray up")


def _up(options: RayOptions, *, as_json: bool) -> int:
    variables = {
        ADDRESS_VARIABLE: cluster_dsn(options.cluster_file),
        KEY_VARIABLE: cluster_key(),
    }
    for name in (OLDER_KEY_VARIABLE, _TOKEN_VARIABLE):
        if value := os.environ.get(name):
            variables[name] = value
    ray = _connected(options)
    running, actors = _actors(ray), dict[str, Any]()
    for address in _machines(ray.nodes()):
        node = _hosted(options, address, variables)
        actors[node.name] = running.get(node.name) or (
            ray.remote(NodeHost)
            .options(
                name=node.name,
                namespace=_NAMESPACE,
                lifetime="detached",
                max_restarts=-1,
                num_cpus=0,
                # The machine with this address, also when it is back after it was gone.
                resources={f"node:{address}": _LITTLE},
            )
            .remote(node)
        )
    ready = {name: each.wait_ready.remote(_READY_SECONDS) for name, each in actors.items()}
    try:
        urls = {name: str(ray.get(each)) for name, each in ready.items()}
    except ray.exceptions.RayError as error:
        raise CliError(
            f"a machine of the Ray cluster cannot run a node: {_last_line(error)}",
            hint="install the same mcpyard in the Python of every machine: 'mcpyard[ray]'",
        ) from None
    ray.shutdown()
    return _print_nodes(urls, as_json=as_json)


def _down(options: RayOptions, *, as_json: bool) -> int:
    ray = _connected(options)
    actors = _actors(ray)
    ending = [each.stop.remote() for each in actors.values()]
    # A machine that is gone answers nothing; its daemon is gone with it.
    if ending:
        ray.wait(ending, num_returns=len(ending), timeout=_STOP_SECONDS)
    for each in actors.values():
        ray.kill(each)
    ray.shutdown()
    names = sorted(actors)
    if as_json:
        print(json.dumps({"stopped": names}))
    else:
        print(f"stopped {clean(', '.join(names))}" if names else "no nodes run on this Ray cluster")
    return 0


def _connected(options: RayOptions) -> Any:  # noqa: ANN401  an optional library without types here
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise usage("Ray is not installed", "install it: pip install 'mcpyard[ray]'") from None
    _check_head(options.address)
    try:
        ray.init(
            address=options.address,
            namespace=_NAMESPACE,
            log_to_driver=False,
            logging_level="error",
        )
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise _unreachable(_last_line(error)) from None
    return ray


def _check_head(address: str) -> None:
    """Ray itself tries for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise _unreachable(f"{address}: {error}") from None


def _unreachable(reason: str) -> CliError:
    return CliError(
        f"the Ray cluster cannot be reached: {reason}",
        hint="name its head with --ray-address HOST:PORT, or set RAY_ADDRESS",
        slug="not-running",
        exit_code=EXIT_UNREACHABLE,
    )


def _last_line(error: Exception) -> str:
    """What an error of Ray says after the traceback that it has in its text."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1]


def _machines(nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """The addresses of the machines; Ray's head is left out unless it is the only one."""
    alive = [each for each in nodes if each["Alive"]]
    workers = [each for each in alive if _HEAD not in each["Resources"]]
    return sorted(each["NodeManagerAddress"] for each in workers or alive)


def _actors(ray: Any) -> dict[str, Any]:  # noqa: ANN401  an optional library without types here
    """The actors that run nodes, by the names of these."""
    listed = ray.util.list_named_actors(all_namespaces=True)
    names = [each["name"] for each in listed if each["namespace"] == _NAMESPACE]
    return {name: ray.get_actor(name, namespace=_NAMESPACE) for name in names}


def _hosted(options: RayOptions, address: str, variables: Mapping[str, str]) -> HostedNode:
    name = "ray-" + re.sub(r"[^0-9a-z]", "-", address.lower())
    with tempfile.TemporaryDirectory() as folder:
        files = make_certificate(options.authority, name, Path(folder))
        contents = tuple(each.read_bytes() for each in files)
    host = f"[{address}]" if ":" in address else address
    # Others reach the HTTP interfaces only where that was asked for.
    is_local = ipaddress.ip_address(address).is_loopback
    listen = address if is_local or options.insecure else "127.0.0.1"
    arguments = ["--host", listen, "--port", str(options.port), "--node", name]
    arguments += ["--node-listen", f"{host}:{options.node_port}", *options.more]
    arguments += ["--insecure"] if options.insecure and not is_local else []
    certificate, key, authority = contents
    return HostedNode(name, tuple(arguments), variables, (certificate, key, authority))


def _print_nodes(urls: Mapping[str, str], *, as_json: bool) -> int:
    if as_json:
        print(json.dumps([{"node": name, "url": url or None} for name, url in urls.items()]))
    else:
        rows = [(name, url or "does not answer yet") for name, url in sorted(urls.items())]
        table(("NODE", "ADDRESS"), rows, "the Ray cluster has no machines")
    return 0 if all(urls.values()) else 1
