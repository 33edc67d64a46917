"""Links to remote servers: Streamable HTTP, SSE, sign-in."""
