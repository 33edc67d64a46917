"""How a daemon joins a cluster."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

TTL: Final = 6.0
"""Seconds after which a node that does not beat has lost its servers."""

CAPACITY: Final = 200


class NodeOptions(Struct, frozen=True):
    """One node of a cluster.

    Attributes:
        name: Its name, which its certificate must have.
        host: The address that it listens on for other nodes.
        port: The port; 0 for any free one.
        certificates: The folder of its certificate and key, and of the authority's certificate.
        dsn: The address of the database, which is a secret.
        key: The key of the cluster, which is a secret.
        labels: What servers may require of it.
        capacity: How many servers it takes.
        ttl: Seconds after which it has lost its servers when it does not beat.
        address: HOST:PORT that other nodes reach it at; empty for what it listens on.
        replace: Whether it takes the place of a daemon of its name on another machine.
        dsn_file: The file that contains the address of the database; empty for a variable.
        older_key: The key before, while the key is changed.
    """

    name: str
    host: str
    port: int
    certificates: str
    dsn: str
    key: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    capacity: int = CAPACITY
    ttl: float = TTL
    address: str = ""
    replace: bool = False
    dsn_file: str = ""
    older_key: str = ""

    def arguments(self) -> list[str]:
        """The arguments of a command that joins in the same way; none of them is a secret."""
        listen = f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
        arguments = ["--node", self.name, "--node-listen", listen]
        arguments += ["--node-certs", self.certificates, "--capacity", str(self.capacity)]
        arguments += ["--node-ttl", str(self.ttl)]
        arguments += ["--node-address", self.address] if self.address else []
        arguments += ["--cluster", self.dsn_file] if self.dsn_file else []
        for key, value in self.labels.items():
            arguments += ["--label", f"{key}={value}"]
        return arguments

    def __repr__(self) -> str:
        return f"NodeOptions({self.name!r}, {self.host!r}, {self.port})"
