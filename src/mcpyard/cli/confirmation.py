"""Questions to the person at the terminal."""

import sys

from mcpyard.cli.cli_errors import usage


def on_terminal() -> bool:
    """Whether there is somebody who can be asked."""
    # Standard input is None where the caller closed it.
    return bool(sys.stdin and sys.stdin.isatty() and sys.stderr.isatty())


def says_yes(question: str) -> bool:
    """Whether the answer to a question is yes; anything else is a no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def confirm(consequence: str) -> bool:
    """Whether the user agrees to what will happen; an error without a terminal to ask on."""
    if not on_terminal():
        raise usage(f"{consequence}; not confirmed", "add --yes to do it without a question")
    return says_yes(f"{consequence}. Continue?")
