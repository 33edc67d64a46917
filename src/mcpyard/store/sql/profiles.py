"""Named selections for the gateway."""

from collections.abc import Mapping, Sequence

from mcpyard.store.sql.cache import CachedTable, Keys, among, refreshed
from mcpyard.store.sql.codec import from_text, to_text
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.rows import every


class SqlProfiles:
    """One JSON object a name."""

    def __init__(self, engine: SqlEngine) -> None:
        self._engine = engine
        self._all: dict[str, Mapping[str, object]] = {}

    async def load(self) -> None:
        """Read everything."""
        await self._engine.read(_read, self._refresh)

    def cached(self) -> Sequence[CachedTable]:
        """The one table."""
        return (CachedTable("profiles", _read, self._refresh),)

    def all(self) -> Mapping[str, Mapping[str, object]]:
        """Every profile by its name."""
        return self._all

    async def set(self, name: str, profile: Mapping[str, object]) -> None:
        """Put a profile in place of the one with its name, if there is one."""
        text = to_text(profile)

        def then(_: object) -> None:
            self._all[name] = from_text(text)

        await self._engine.execute(
            """INSERT INTO profiles (name, profile) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET profile = excluded.profile""",
            (name, text),
            then,
        )

    async def remove(self, name: str) -> bool:
        """Take a profile out; whether there was one."""
        removed = await self._engine.execute(
            "DELETE FROM profiles WHERE name = ? RETURNING name",
            (name,),
            lambda _: self._all.pop(name, None),
        )
        return bool(removed)

    def _refresh(self, rows: dict[str, Mapping[str, object]], keys: Keys = None) -> None:
        self._all = refreshed(self._all, rows, keys)


def _read(connection: SqlConnection, keys: Keys = None) -> dict[str, Mapping[str, object]]:
    where, values = among("name", keys)
    rows = connection.execute(f"SELECT name, profile FROM profiles{where} ORDER BY rowid", values)  # noqa: S608  constants
    return dict(every(rows, _profile, "a profile"))


def _profile(name: str, text: str) -> tuple[str, Mapping[str, object]]:
    return name, from_text(text)
