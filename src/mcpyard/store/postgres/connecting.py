"""Connections to the database of a cluster, and the sentences about those that fail.

psycopg's own messages may repeat parts of the DSN, which is a secret: none of them is passed on.
"""

import ipaddress
import os
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.rows import TupleRow

from mcpyard.domain.errors import ClusterRefused, StorageFull, StoreAway, YardError

RV = TypeVar("RV")

ANSWER_SECONDS: Final = 5.0
"""How long one statement may take, with its way there and back."""

BEGIN_DURABLE: Final = """BEGIN ISOLATION LEVEL READ COMMITTED;
    SET LOCAL synchronous_commit TO on"""
"""Begins a transaction that writes, whatever the defaults of the database are.

Without the second statement a server that is killed may forget what it acknowledged, a fence too;
in another level of isolation writers that wait for each other fail.
"""

_IDLE_LOOK: Final = 1.0
_CHECK_DSN: Final = "Check the DSN in MCPYARD_CLUSTER."

# A lost machine closes no connection: without these, its end would be noticed after minutes.
_SETTINGS: Final[dict[str, str | int]] = {
    "connect_timeout": 2,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 5000,
    "target_session_attrs": "read-write",
}

_REFUSALS: Final = (
    ("password authentication failed", "the database refuses the password", _CHECK_DSN),
    ("no password supplied", "the database wants a password and the DSN has none", _CHECK_DSN),
    ("no pg_hba.conf entry", "the database does not accept this user from this machine", ""),
    ("role", "the database does not know the user of the DSN", _CHECK_DSN),
    ("database", "the database of the DSN does not exist", "Create it first, or check the DSN."),
    ("invalid sslmode value", "the DSN has an unknown sslmode", _CHECK_DSN),
    ("invalid port number", "the DSN has a port that does not exist", _CHECK_DSN),
    (' value: "', "the DSN has a setting with a value that libpq does not know", _CHECK_DSN),
    ("definition of service", "the service of the DSN is not defined", "Check pg_service.conf."),
    ("certificate", "the certificate of the database is not accepted", "Check sslrootcert."),
    ("SSL", "the database does not offer TLS", "Turn TLS on, or add sslmode=disable to the DSN."),
)
_AWAY: Final = (psycopg.OperationalError, psycopg.errors.IdleInTransactionSessionTimeout)
_UNKNOWN: Final = ("role", "database")
_CROWDED: Final = ("too many", "connection slots", "no more connections")
_CROWDED_ADVICE: Final = (
    "Raise its max_connections, or the limit of its user or pooler: each node needs 4."
)
_REPLICA: Final = "the database of the cluster is a replica and cannot be written"
_NO_ADVICE: Final = "Allow it in the database's pg_hba.conf."


class LimitedConnection(psycopg.Connection[TupleRow]):
    """A connection on which no statement waits for ever.

    PostgreSQL's own limits do not help when its machine is frozen.
    """

    limit: float = ANSWER_SECONDS

    def wait(
        self, gen: PQGen[RV], interval: float = _IDLE_LOOK, timeout: float | None = None
    ) -> RV:
        """Wait for an answer; a timeout leaves the connection unusable."""
        del interval
        if timeout is not None:
            return super().wait(gen, _IDLE_LOOK, timeout)
        try:
            return super().wait(gen, _IDLE_LOOK, self.limit)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.close()
            raise


def conninfo_of(dsn: str) -> str:
    """A DSN with our settings; TLS is required unless the database is on this machine.

    What libpq takes from the environment counts as if it were in the DSN.

    Raises:
        ClusterRefused: It is no DSN, or nobody can tell whether TLS is required.
    """
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.Error:
        raise ClusterRefused("the DSN of the cluster's database cannot be read").advising(
            "Write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        ) from None
    settings: dict[str, Any] = {"application_name": "mcpyard", **parts, **_SETTINGS}
    if "sslmode" not in parts and "PGSSLMODE" not in os.environ and _needs_tls(parts):
        settings["sslmode"] = "require"
    return make_conninfo("", **settings)


def connect(conninfo: str) -> LimitedConnection:
    """Connect, or say in one sentence why not; blocks for two seconds at most a host.

    Raises:
        ClusterRefused: The database answers and refuses.
        StoreAway: It cannot be reached.
    """
    try:
        return LimitedConnection.connect(conninfo, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise _refusal(str(error)) from None


def named(error: Exception) -> Exception:
    """An error of the database as callers know it; a mistake of our own stays what it is."""
    if isinstance(error, psycopg.errors.DiskFull):
        return StorageFull("the disk of the cluster's database is full")
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        return ClusterRefused("the user of the DSN may not do this in the database").advising(
            "Let it own the schema mcpyard, or GRANT CREATE ON DATABASE to it first."
        )
    if isinstance(error, _AWAY):
        return StoreAway("the database of the cluster does not answer")
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return StoreAway(_REPLICA)
    return error


def _refusal(message: str) -> YardError:
    for sign, sentence, advice in _REFUSALS:
        if sign in message and (sign not in _UNKNOWN or "does not exist" in message):
            return ClusterRefused(sentence).advising(advice or _NO_ADVICE)
    if any(sign in message for sign in _CROWDED):
        text = "the database of the cluster has no connection left"
        return StoreAway(text).advising(_CROWDED_ADVICE)
    if "read-only" in message:
        return StoreAway(_REPLICA).advising("Name the host of the primary in the DSN.")
    return StoreAway("the database of the cluster cannot be reached").advising(
        "Check that it runs, and the host and port of the DSN."
    )


def _needs_tls(parts: Mapping[str, Any]) -> bool:
    host = parts.get("hostaddr") or parts.get("host")
    if host is None and ("service" in parts or "PGSERVICE" in os.environ):
        # Its file has the host, and maybe a mode that a weaker one must not replace.
        raise ClusterRefused("the DSN names a service, and has no sslmode").advising(
            "Add sslmode=verify-full to it, or sslmode=disable if the database is on this machine."
        )
    hosts = host or os.environ.get("PGHOSTADDR") or os.environ.get("PGHOST") or ""
    return not all(_is_loopback(each) for each in str(hosts).split(","))


def _is_loopback(host: str) -> bool:
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
