"""What sign-ins left behind, sealed; only issuer and resource are readable."""

import asyncio
import logging
from dataclasses import asdict

from mcpyard.store.sqlite.codec import from_text, to_text
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.sealing import Seal
from mcpyard.wire.remote.credentials import Credentials

log = logging.getLogger(__name__)


class SqliteCredentials:
    """The `CredentialStore` of the sign-ins."""

    def __init__(self, engine: Engine, seal: Seal) -> None:
        self._engine = engine
        self._seal = seal

    async def get(self, resource: str) -> Credentials | None:
        """The set that was put last for a resource."""
        rows = await self._engine.execute(
            "SELECT sealed FROM credentials WHERE resource = ? ORDER BY number DESC", (resource,)
        )
        if not rows:
            return None
        content = await asyncio.to_thread(self._seal.open, rows[0][0])
        if content is None:
            log.warning("the sign-in of %s was sealed with another key; sign in again", resource)
            return None
        return Credentials(**from_text(content.decode()))

    async def put(self, credentials: Credentials) -> None:
        """Keep a set in place of the one with the same issuer and resource."""
        content = to_text(asdict(credentials)).encode()
        sealed = await asyncio.to_thread(self._seal.close, content)
        # Replaced, not updated: the one that was put last has the highest number.
        await self._engine.execute(
            "INSERT OR REPLACE INTO credentials (issuer, resource, sealed) VALUES (?, ?, ?)",
            (credentials.issuer, credentials.resource, sealed),
        )

    async def delete(self, resource: str) -> None:
        """Forget every set of a resource."""
        await self._engine.execute("DELETE FROM credentials WHERE resource = ?", (resource,))
