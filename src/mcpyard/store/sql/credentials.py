"""What sign-ins left behind, sealed; only issuer and resource are readable."""

import asyncio
import logging
from dataclasses import asdict

from mcpyard.store.sql.codec import from_text, to_text
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.sealing import Seal
from mcpyard.wire.remote.credentials import Credentials

log = logging.getLogger(__name__)


class SqlCredentials:
    """The `CredentialStore` of the sign-ins."""

    def __init__(self, engine: SqlEngine, seal: Seal) -> None:
        self._engine = engine
        self._seal = seal

    async def get(self, resource: str) -> Credentials | None:
        """The set that was put last for a resource."""
        row = await self._engine.read(
            lambda connection: connection.execute(
                "SELECT sealed FROM credentials WHERE resource = ? ORDER BY number DESC",
                (resource,),
            ).fetchone()
        )
        return None if row is None else await self.opened(resource, row[0])

    async def opened(self, resource: str, sealed: bytes) -> Credentials | None:
        """A sealed set; None when it was sealed with another key."""
        content = await asyncio.to_thread(self._seal.open, sealed)
        if content is None:
            log.warning("the sign-in of %s was sealed with another key; sign in again", resource)
            return None
        return Credentials(**from_text(content.decode()))

    async def put(self, credentials: Credentials) -> None:
        """Keep a set in place of the one with the same issuer and resource."""
        content = to_text(asdict(credentials)).encode()
        sealed = await asyncio.to_thread(self._seal.close, content)
        row = (credentials.issuer, credentials.resource, sealed)
        await self._engine.run(lambda connection: put_sealed(connection, row))

    async def delete(self, resource: str) -> None:
        """Forget every set of a resource."""
        await self._engine.execute("DELETE FROM credentials WHERE resource = ?", (resource,))


def put_sealed(connection: SqlConnection, row: tuple[str, str, bytes]) -> None:
    """Write issuer, resource and a sealed set in place of the one there was."""
    # Replaced, not updated: the one that was put last has the highest number.
    connection.execute("DELETE FROM credentials WHERE issuer = ? AND resource = ?", row[:2])
    connection.execute("INSERT INTO credentials (issuer, resource, sealed) VALUES (?, ?, ?)", row)
