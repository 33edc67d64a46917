"""The words of the protocol that clients and the gateway exchange."""

from typing import Final

from mcpyard.wire.handshake import VERSIONS as HANDSHAKE_VERSIONS
from mcpyard.wire.modern import VERSION as MODERN_VERSION

SUPPORTED: Final = (MODERN_VERSION, *reversed(HANDSHAKE_VERSIONS))
"""Every revision, the newest first."""

PARSE_ERROR: Final = -32700
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
RESOURCE_NOT_FOUND: Final = -32002
"""What a server of the handshake era says; one of the modern era says invalid parameters."""

META: Final = "_meta"
PREFIX: Final = "io.modelcontextprotocol/"
PROTOCOL_VERSION: Final = PREFIX + "protocolVersion"
CLIENT_CAPABILITIES: Final = PREFIX + "clientCapabilities"
CLIENT_INFO: Final = PREFIX + "clientInfo"
LOG_LEVEL: Final = PREFIX + "logLevel"
SERVER_INFO: Final = PREFIX + "serverInfo"
SUBSCRIPTION_ID: Final = PREFIX + "subscriptionId"
PROGRESS_TOKEN: Final = "progressToken"  # noqa: S105  names a member

INPUT_RESPONSES: Final = "inputResponses"
REQUEST_STATE: Final = "requestState"

MESSAGE: Final = "notifications/message"
PROGRESS: Final = "notifications/progress"
UPDATED: Final = "notifications/resources/updated"
