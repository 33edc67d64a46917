"""An example MCP server: statutes, cases and document templates, with their sources.

Stands alone: imports nothing of mcpyard, and nothing of mcpyard imports it.
"""
