"""The address of a cluster's database and its key: secrets that no option contains."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mcpyard.cli.cli_errors import usage

if TYPE_CHECKING:
    from mcpyard.store.postgres.setup import ClusterConnection

ADDRESS_VARIABLE: Final = "MCPYARD_CLUSTER"
KEY_VARIABLE: Final = "MCPYARD_KEY"
OLDER_KEY_VARIABLE: Final = "MCPYARD_KEY_OLD"


def cluster_dsn(file: Path | None) -> str:
    """The address of the database: the content of a file, otherwise of the variable."""
    if file is None:
        text, where = os.environ.get(ADDRESS_VARIABLE, ""), ADDRESS_VARIABLE
    else:
        text, where = _content(file), str(file)
    if not text.strip():
        raise usage(
            f"{where} has no address of a database",
            f"set {ADDRESS_VARIABLE} to postgresql://USER:PASSWORD@HOST/DATABASE, "
            "or write that to a file and name it with --cluster",
        )
    return text.strip()


def cluster_key() -> str:
    """The key that opens the secrets of the cluster."""
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        raise usage(
            f"{KEY_VARIABLE} is not set", "set it to the key that `mcpyard cluster init` printed"
        )
    return key


def older_cluster_key() -> str:
    """The key before, which counts too while the key is changed; empty without one."""
    return os.environ.get(OLDER_KEY_VARIABLE, "").strip()


def names_cluster(file: Path | None) -> bool:
    """Whether an option or the environment names a cluster."""
    return file is not None or bool(os.environ.get(ADDRESS_VARIABLE, "").strip())


def cluster_connection(file: Path | None) -> "ClusterConnection":
    """How to reach the cluster that an option or the environment names, and to open its secrets."""
    from mcpyard.store.postgres.setup import ClusterConnection, seal_of

    return ClusterConnection(cluster_dsn(file), seal_of(cluster_key(), older_cluster_key()))


def _content(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise usage(f"{file} cannot be read: {reason}") from None
