"""A look at the state of a home that no yard holds: it changes nothing and leaves no trace."""

import contextlib
import sqlite3
from collections.abc import Generator, Mapping
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

from msgspec import Struct, field

from mcpyard.domain.desired import Owner, PolicyPatch
from mcpyard.domain.stored import Approval, StoredDefinition
from mcpyard.store.sql.definitions import read_definitions
from mcpyard.store.sql.memory import read_identities
from mcpyard.store.sql.policies import policy_of, read_policies
from mcpyard.store.sql.rows import every
from mcpyard.store.sqlite.approvals import read_approvals
from mcpyard.store.sqlite.database import look
from mcpyard.store.sqlite.error_names import domain_error
from mcpyard.store.sqlite.migrations import check, version_of
from mcpyard.store.sqlite.schema import HAS_SECRETS, NEW_POLICY_NAMES, STATE, with_new_names
from mcpyard.store.sqlite.used_marker import check_filled, check_there


class Peeked(Struct, frozen=True):
    """What a home knows: the user's servers, and the ids, policies and approvals of all scopes.

    Of the stored secrets these are the names, and with the files of projects that may use them.
    """

    definitions: tuple[StoredDefinition, ...] = ()
    identities: Mapping[tuple[Owner, str], UUID] = field(
        default_factory=dict[tuple[Owner, str], UUID]
    )
    policies: Mapping[UUID, PolicyPatch] = field(default_factory=dict[UUID, PolicyPatch])
    approvals: Mapping[str, Approval] = field(default_factory=dict[str, Approval])
    secrets: frozenset[str] = frozenset()
    consents: frozenset[tuple[str, str]] = frozenset()


def peek_definitions(folder: Path) -> Peeked:
    """What the home in a folder knows; nothing where there is no database.

    Raises:
        NewerState: A newer version wrote it.
        StateBroken: It cannot be read, or is gone though the home was used.
    """
    path = folder / "state.db"
    check_there(path)
    if not path.exists():
        return Peeked()
    with opened(path) as connection:
        version = version_of(connection)
        check_filled(path, version)
        return _read(connection) if version else Peeked()


def examine_state(folder: Path) -> None:
    """Look for damage in the state of a home, which a yard may hold meanwhile.

    Raises:
        NewerState: A newer version wrote it.
        StateBroken: It cannot be read, or is gone though the home was used.
    """
    path = folder / "state.db"
    check_there(path)
    with opened(path) as connection:
        check_filled(path, version_of(connection))
        look(connection, path)


@contextlib.contextmanager
def opened(path: Path) -> Generator[sqlite3.Connection]:
    """A state that nobody writes, to be read.

    Raises:
        NewerState: A newer version wrote it.
        StateBroken: It cannot be read, or is somebody else's.
    """
    try:
        with contextlib.closing(sqlite3.connect(_address(path), uri=True)) as connection:
            check(connection, path, len(STATE))
            yield connection
    except sqlite3.Error as error:
        raise domain_error(error, path) from error


def _address(path: Path) -> str:
    """A way to open a database that changes none of its files, nor makes one beside it."""
    log, index = (path.with_name(f"{path.name}-{part}") for part in ("wal", "shm"))
    if not log.exists() or log.stat().st_size == 0:
        how = "&immutable=1"
    else:
        # A yard that was killed left its log, and what it wrote last stands only there.
        how = "&readonly_shm=1" if index.exists() else ""
    return f"file:{quote(str(path))}?mode=ro{how}"


def _read(connection: sqlite3.Connection) -> Peeked:
    return Peeked(
        tuple(read_definitions(connection)),
        read_identities(connection),
        _read_policies(connection),
        {each.folder: each for each in read_approvals(connection)},
        *_read_secrets(connection),
    )


def _read_secrets(
    connection: sqlite3.Connection,
) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    if version_of(connection) < HAS_SECRETS:
        return frozenset(), frozenset()
    names = connection.execute("SELECT name FROM secrets").fetchall()
    consents = connection.execute("SELECT place, name FROM secret_consents").fetchall()
    return frozenset(name for (name,) in names), frozenset((at, name) for at, name in consents)


def _read_policies(connection: sqlite3.Connection) -> dict[UUID, PolicyPatch]:
    if version_of(connection) >= NEW_POLICY_NAMES:
        return read_policies(connection)
    rows = connection.execute("SELECT server, policy FROM policies")
    return dict(every(rows, _old_policy, "a policy"))


def _old_policy(server: str, text: str) -> tuple[UUID, PolicyPatch]:
    return policy_of(server, with_new_names(text))
