"""What copies left out, so that a copy back brings it along."""

import json

from mcpyard.domain.stored import DroppedField
from mcpyard.store.sqlite.engine import Engine


class SqliteDroppedFields:
    """What was left out, by the place and the name of the copy."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def get(self, place: str, name: str) -> DroppedField | None:
        """What the copy of that name left out."""
        rows = await self._engine.execute(
            "SELECT client, mark, fields FROM left_out WHERE place = ? AND name = ?", (place, name)
        )
        fields = (DroppedField(client, mark, json.loads(text)) for client, mark, text in rows)
        return next(fields, None)

    async def set(self, place: str, name: str, left: DroppedField | None) -> None:
        """Keep what a copy left out in place of what was kept; None forgets it."""
        if left is None:
            statement, values = "DELETE FROM left_out WHERE place = ? AND name = ?", (place, name)
        else:
            statement = "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?, ?, ?)"
            values = place, name, left.client, left.mark, json.dumps(left.fields)
        await self._engine.execute(statement, values)
