"""The screens of mcpyard's own servers and their tools."""
