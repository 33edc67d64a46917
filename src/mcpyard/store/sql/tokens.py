"""The call tokens. Their use is noted from time to time only: nobody needs it to the second."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from mcpyard.domain.errors import NameTaken
from mcpyard.domain.stored import CallToken
from mcpyard.store.sql.cache import CachedTable, Keys, among
from mcpyard.store.sql.codec import from_micros, maybe_from_micros, to_micros
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.rows import readable

_NOTED_EVERY: Final = timedelta(minutes=1)
_COLUMNS: Final = "id, name, hash, profile, created, last_used, revoked, expires"


class SqlTokens:
    """Tokens by their hashes (see the `Tokens` port)."""

    def __init__(self, engine: SqlEngine) -> None:
        self._engine = engine
        self._all: dict[UUID, CallToken] = {}
        self._by_hash: dict[str, UUID] = {}
        self._noted: dict[UUID, datetime] = {}

    async def load(self) -> None:
        """Read everything."""
        await self._engine.read(_read, self._refresh)

    def cached(self) -> Sequence[CachedTable]:
        """The one table."""
        return (CachedTable("tokens", _read, self._refresh),)

    def all(self) -> Sequence[CallToken]:
        """Every token, also the revoked ones, in the order of their making."""
        return tuple(self._all.values())

    def by_hash(self, token_hash: str) -> CallToken | None:
        """The token with this hash, unless it is revoked."""
        token_id = self._by_hash.get(token_hash)
        token = self._all[token_id] if token_id else None
        return token if token and token.revoked is None else None

    async def add(self, token: CallToken) -> None:
        """Keep a token."""
        await self._engine.run(lambda connection: _insert(connection, token), self._keep)

    async def revoke(self, token: UUID, at: datetime) -> CallToken | None:
        """Make a token worthless; None when there is no such token."""

        def job(connection: SqlConnection) -> CallToken | None:
            row = connection.execute(
                f"""UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?
                RETURNING {_COLUMNS}""",  # noqa: S608  a constant of ours
                (to_micros(at), str(token)),
            ).fetchone()
            return _token(*row) if row else None

        return await self._engine.run(job, self._keep)

    def revoked_elsewhere(self, token: UUID, at: datetime) -> None:
        """Another program of the same database revoked a token, as will be read there."""
        stored = self._all.get(token)
        if stored is not None and stored.revoked is None:
            self._all[token] = replace(stored, revoked=at)

    def used(self, token: UUID, at: datetime) -> None:
        """Note that a token was used, in the background."""
        stored = self._all.get(token)
        if stored is None:
            return
        self._all[token] = replace(stored, last_used=at)
        noted = self._noted.get(token)
        if noted is None or at - noted >= _NOTED_EVERY:
            self._noted[token] = at
            row = (to_micros(at), str(token))
            self._engine.post(
                lambda connection: connection.execute(
                    "UPDATE tokens SET last_used = ? WHERE id = ?", row
                )
            )

    def _refresh(self, rows: list[CallToken], keys: Keys = None) -> None:
        for key in {*(self._all if keys is None else map(UUID, keys))} - {each.id for each in rows}:
            if gone := self._all.pop(key, None):
                self._by_hash.pop(gone.hash, None)
        for each in rows:
            self._keep(each)

    def _keep(self, token: CallToken | None) -> None:
        if token is None:
            return
        stored = self._all.get(token.id)
        last_used = max(filter(None, (token.last_used, stored and stored.last_used)), default=None)
        # Rows that were read before a revocation may come after the word of it.
        revoked = token.revoked or (stored and stored.revoked)
        self._all[token.id] = replace(token, last_used=last_used, revoked=revoked)
        self._by_hash[token.hash] = token.id


def _insert(connection: SqlConnection, token: CallToken) -> CallToken:
    taken = connection.execute(
        "SELECT 1 FROM tokens WHERE name = ? AND revoked IS NULL", (token.name,)
    )
    if taken.fetchone():
        raise NameTaken(f'a token "{token.name}" already exists')
    expires = to_micros(token.expires) if token.expires else None
    row = (str(token.id), token.name, token.hash, token.profile, to_micros(token.created), expires)
    connection.execute(
        """INSERT INTO tokens (id, name, hash, profile, created, expires)
        VALUES (?, ?, ?, ?, ?, ?)""",
        row,
    )
    return token


def _read(connection: SqlConnection, keys: Keys = None) -> list[CallToken]:
    where, values = among("id", keys)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM tokens{where} ORDER BY rowid",  # noqa: S608  constants
        values,
    )
    return [*readable(rows, _token, "a call token")]


def _token(token: str, name: str, token_hash: str, profile: str | None, *at: Any) -> CallToken:  # noqa: ANN401  columns as they come
    created, last_used, revoked, expires = at
    return CallToken(
        UUID(token),
        name,
        token_hash,
        profile,
        from_micros(created),
        maybe_from_micros(last_used),
        maybe_from_micros(revoked),
        maybe_from_micros(expires),
    )
