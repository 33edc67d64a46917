"""Large capabilities of a client are sent on, and not kept for each server."""

import tracemalloc

from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.modern import Modern

LARGE = 300_000


def test_large_capabilities_are_sent_but_not_kept() -> None:
    codec = Modern(ClientFace("mcpyard", "1"))
    tracemalloc.start()
    try:
        for number in range(10):
            capabilities = b'{"elicitation":{"form":{"x":"%d%b"}}}' % (number, b"y" * LARGE)
            extras = codec.extras("tools/call", "x", CallTerms(capabilities=capabilities))
            assert capabilities in extras.meta
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 4 * LARGE
