"""The MCP gateway: every server through one endpoint, in both eras, as the bytes that came."""
