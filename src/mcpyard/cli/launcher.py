"""The `mcpyard` command: where every start of it begins."""

import gc
import sys
from collections.abc import Sequence

from mcpyard.cli.quick_up import read_up
from mcpyard.cli.standard_streams import drop_unwritten, ready_streams


def run(arguments: list[str] | None = None) -> None:
    """The entry point of the command."""
    ready_streams()
    words = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = _execute(words)
        sys.stdout.flush()
    except BrokenPipeError:
        code = 1
    except Exception as error:  # noqa: BLE001  unexpected errors are raised again
        from mcpyard.cli.cli_errors import complain

        # After -- comes the command of a server, with options of its own.
        ours = words[: words.index("--")] if "--" in words else words
        code = complain(error, as_json="--json" in ours)
    drop_unwritten()
    sys.exit(code)


def _execute(words: Sequence[str]) -> int:
    if (up := read_up(words)) is not None:
        # Hardly anything of what a start makes is garbage; `up` enables it again when ready.
        gc.disable()
        from mcpyard.cli.commands.up import start

        return start(**up)
    from mcpyard.cli.commands.completion import ready_completion
    from mcpyard.cli.main import app

    ready_completion()
    return app(words, prog_name="mcpyard", standalone_mode=False)
