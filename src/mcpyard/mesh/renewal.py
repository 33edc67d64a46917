"""Renewed certificates of a node are used without a restart."""

import asyncio
import logging
from typing import Final

from mcpyard.domain.errors import ClusterRefused
from mcpyard.mesh.certificates import NodeCertificates

log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 5.0


async def keep_renewed(certificates: NodeCertificates, every: float = _LOOK_SECONDS) -> None:
    """Look for replaced files for ever; those that cannot be used are named once in the log."""
    problem = ""
    while True:
        await asyncio.sleep(every)
        try:
            if await asyncio.to_thread(certificates.replaced):
                certificates.renew()
                log.info("the certificate of this node was renewed")
            problem = ""
        except ClusterRefused as error:
            if error.message != problem:
                problem = error.message
                log.warning("the certificate of this node was not renewed: %s", problem)
