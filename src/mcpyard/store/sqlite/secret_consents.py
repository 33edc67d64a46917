"""Which files of projects may use which stored secrets: a matter of one machine."""

from collections.abc import Callable, Collection

from mcpyard.store.sqlite.engine import Engine


class SqliteSecretConsents:
    """One row a file and name (see the `SecretConsents` port)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: frozenset[tuple[str, str]] = frozenset()
        self.changed: Callable[[], None] = lambda: None

    async def load(self) -> None:
        """Read everything."""
        rows = await self._engine.read(
            lambda connection: connection.execute(
                "SELECT place, name FROM secret_consents"
            ).fetchall()
        )
        self._all = frozenset((place, name) for place, name in rows)

    def all(self) -> Collection[tuple[str, str]]:
        """The path of each file, and the name that it may use."""
        return self._all

    async def set(self, place: str, name: str, *, allowed: bool) -> None:
        """Allow a file to use a name, or not any more."""
        pair = place, name

        def then(_: object) -> None:
            self._all = self._all | {pair} if allowed else self._all - {pair}
            self.changed()

        statement = (
            "INSERT INTO secret_consents (place, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
            if allowed
            else "DELETE FROM secret_consents WHERE place = ? AND name = ?"
        )
        await self._engine.execute(statement, pair, then)
