"""The user's word on project files."""

import sqlite3
from collections.abc import Mapping

from mcpyard.domain.stored import Approval
from mcpyard.store.sqlite.codec import from_micros, to_micros
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.rows import readable


class SqliteApprovals:
    """One approval a folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[str, Approval] = {}

    async def load(self) -> None:
        """Read everything."""
        await self._engine.run(_read, self._take)

    def all(self) -> Mapping[str, Approval]:
        """Every approval by its folder."""
        return self._all

    async def set(self, approval: Approval) -> None:
        """Keep an approval in place of the folder's earlier one."""

        def then(_: object) -> None:
            self._all[approval.folder] = approval

        await self._engine.run(
            lambda connection: connection.execute(
                """INSERT INTO approvals (folder, digest, at) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET digest = excluded.digest, at = excluded.at""",
                (approval.folder, approval.digest, to_micros(approval.at)),
            ),
            then,
        )

    async def withdraw(self, folder: str) -> None:
        """Forget what was said about a folder."""
        await self._engine.run(
            lambda connection: connection.execute(
                "DELETE FROM approvals WHERE folder = ?", (folder,)
            ),
            lambda _: self._withdrawn(folder),
        )

    def _withdrawn(self, folder: str) -> None:
        self._all.pop(folder, None)

    def _take(self, found: list[Approval]) -> None:
        self._all = {each.folder: each for each in found}


def _read(connection: sqlite3.Connection) -> list[Approval]:
    rows = connection.execute("SELECT folder, digest, at FROM approvals ORDER BY rowid")
    return [*readable(rows, _approval, "an approval")]


def _approval(folder: str, digest: str, at: int) -> Approval:
    return Approval(folder, digest, from_micros(at))
