"""`python -m mcpyard` is the `mcpyard` command."""

from mcpyard.cli.main import run

if __name__ == "__main__":
    run()
