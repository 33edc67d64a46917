"""Reads the options of `mcpyard up` that make it a node of a cluster."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.cluster_settings import cluster_dsn, cluster_key, older_cluster_key
from mcpyard.cli.quick_up import UpArguments
from mcpyard.cluster.node_options import CAPACITY, TTL, NodeOptions

_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_RESERVED: Final = "ca"
"""Beside `NAME.crt`, a folder of certificates has a `ca.crt`."""

_LAST_PORT: Final = 65_535
_SHORTEST_TTL: Final = 2.0
_LONGEST_TTL: Final = 3600.0
_EVERY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104  refused, not bound
_NODE_ONLY: Final = {
    "cluster": "--cluster",
    "node_listen": "--node-listen",
    "node_address": "--node-address",
    "node_certs": "--node-certs",
    "label": "--label",
    "capacity": "--capacity",
    "node_ttl": "--node-ttl",
    "replace": "--replace",
}


def read_node(arguments: UpArguments) -> NodeOptions | None:
    """The node that the arguments describe; None without `--node`."""
    name = arguments.get("node")
    if name is None:
        for argument, option in _NODE_ONLY.items():
            if arguments.get(argument) not in (None, False):
                raise usage(
                    f"{option} needs --node", "a daemon joins a cluster with: up --node NAME"
                )
        return None
    check_node_name("--node", name)
    host, port = _address("--node-listen", arguments.get("node_listen"))
    address = arguments.get("node_address") or ""
    _check_reachable(host, address)
    ttl, file = arguments.get("node_ttl"), arguments.get("cluster")
    if ttl is not None:
        _check_ttl(ttl)
    return NodeOptions(
        name,
        host,
        port,
        _certificates(arguments.get("node_certs")),
        cluster_dsn(file),
        cluster_key(),
        _labels(arguments.get("label") or ()),
        arguments.get("capacity") or CAPACITY,
        TTL if ttl is None else ttl,
        address,
        replace=arguments.get("replace", False),
        dsn_file=str(file.absolute()) if file else "",
        older_key=older_cluster_key(),
    )


def check_node_name(place: str, name: str) -> None:
    """Refuse what cannot be the name of a node."""
    if not _NAME.fullmatch(name):
        raise usage(
            f'{place}: "{name[:80]}" is not a valid name',
            "use lower-case letters, digits and hyphens, at most 63",
        )
    if name == _RESERVED:
        raise usage(f'{place}: "{name}" is the name of the certificate authority')


def _address(option: str, text: str | None) -> tuple[str, int]:
    if text is None:
        raise usage("--node needs --node-listen HOST:PORT", "where other nodes reach this one")
    host, _, port = text.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or int(port) > _LAST_PORT:
        raise usage(f'{option}: "{text[:80]}" is not HOST:PORT')
    return host.strip("[]"), int(port)


def _check_reachable(host: str, address: str) -> None:
    """Refuse what no other node could connect to."""
    if address:
        if not _address("--node-address", address)[1]:
            raise usage(f'--node-address: "{address[:80]}" has no port')
    elif host in _EVERY_ADDRESS:
        raise usage(
            f"--node-listen {host} needs --node-address HOST:PORT",
            "where other nodes reach this one: they cannot connect to every address",
        )


def _check_ttl(ttl: float) -> None:
    # Not a number is neither.
    if not ttl >= _SHORTEST_TTL:
        raise usage(f"--node-ttl must be at least {_SHORTEST_TTL:g} seconds")
    if ttl > _LONGEST_TTL:
        raise usage(f"--node-ttl must be at most {_LONGEST_TTL:g} seconds")


def _certificates(folder: Path | None) -> str:
    if folder is None:
        raise usage("--node needs --node-certs DIR", "make one with: mcpyard cluster cert NAME")
    return str(folder.absolute())


def _labels(texts: Iterable[str]) -> dict[str, str]:
    labels: dict[str, str] = {}
    for each in texts:
        key, equals, value = each.partition("=")
        if not key or not equals:
            raise usage(f'--label: "{each[:80]}" is not NAME=VALUE')
        labels[key] = value
    return labels
