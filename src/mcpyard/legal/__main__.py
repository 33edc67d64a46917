"""`python -m mcpyard.legal` is the command `mcpyard-legal`."""

from mcpyard.legal.main import run

run()
