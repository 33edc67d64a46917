"""Named selections for the gateway."""

import sqlite3
from collections.abc import Mapping

from mcpyard.store.sqlite.codec import from_text, to_text
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.rows import every


class SqliteProfiles:
    """One JSON object a name."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[str, Mapping[str, object]] = {}

    async def load(self) -> None:
        """Read everything."""
        self._all = await self._engine.run(_read)

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
            ON CONFLICT DO UPDATE SET profile = excluded.profile""",
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


def _read(connection: sqlite3.Connection) -> dict[str, Mapping[str, object]]:
    rows = connection.execute("SELECT name, profile FROM profiles ORDER BY rowid")
    return dict(every(rows, _profile, "a profile"))


def _profile(name: str, text: str) -> tuple[str, Mapping[str, object]]:
    return name, from_text(text)
