"""`python -m mcpyard` is the `mcpyard` command, and where every other start of it begins.

Next to nothing is imported here, so that a Ctrl-C is taken without a traceback even while the
command itself is still being imported.
"""

import sys

_INTERRUPTED = 130
"""What shells say of a program that Ctrl-C ended: 128 and the number of the signal."""


def run() -> None:
    """The entry point of the command."""
    try:
        from mcpyard.cli.launcher import run as run_command  # noqa: PLC0415  it takes a while

        run_command()
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 wraps one that comes while a class is being made.
        if not isinstance(error.__cause__ or error, KeyboardInterrupt):
            raise
        sys.exit(_INTERRUPTED)


if __name__ == "__main__":
    run()
