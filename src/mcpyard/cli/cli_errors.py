"""The errors of commands: one or two lines on standard error, or one JSON object.

Light on purpose: most errors come from the running mcpyard, ready to print.
"""

import contextlib
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from mcpyard.cli.output import clean
from mcpyard.domain.edges import EDGES, EXIT_UNREACHABLE, EXIT_USAGE, edge
from mcpyard.domain.errors import YardError
from mcpyard.domain.narrowing import object_of, sequence_of

if TYPE_CHECKING:
    import typer

EXIT_FAILED: Final = 1

_TYPE_PREFIX: Final = "urn:mcpyard:error:"
_SHOWN_STDERR: Final = 5
_HELP: Final = "see mcpyard --help, or --help after a command"
_HINTS: Final = {
    "failed": "check this machine: mcpyard doctor",
    "refused": "compare the versions: mcpyard --version, mcpyard status",
    "usage": _HELP,
    "yard-ended": "start it again: mcpyard up",
    "yard-silent": "check its log; mcpyard paths prints where it is",
}
"""What to do about an error that has no hint of its own."""

_CODES: Final = {
    **{each.problem: each.exit_code for each in EDGES.values()},
    **dict.fromkeys(("not-running", "yard-silent", "yard-starting"), EXIT_UNREACHABLE),
    "usage": EXIT_USAGE,
}
"""The exit codes of problems, of a running yard and of the client that speaks to it."""

_TAKING_COMMANDS: Final = frozenset({"add", "edit"})


class CliError(Exception):
    """An error that ends a command, ready to print."""

    def __init__(
        self,
        detail: str,
        *,
        hint: str = "",
        slug: str = "failed",
        exit_code: int = EXIT_FAILED,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.exit_code = exit_code
        title = slug.replace("-", " ").capitalize()
        self.problem: dict[str, object] = {
            "type": _TYPE_PREFIX + slug,
            "title": title,
            "detail": detail,
            **(more or {}),
        }
        if advice := hint or _HINTS.get(slug, ""):
            self.problem["hint"] = advice

    @classmethod
    def of_problem(cls, problem: Mapping[str, object]) -> "CliError":
        """The error that mcpyard answered with."""
        slug = str(problem.get("type", "")).removeprefix(_TYPE_PREFIX)
        return cls(
            str(problem.get("detail", "mcpyard refused the request")),
            hint=str(problem.get("hint", "")),
            slug=slug or "refused",
            exit_code=_CODES.get(slug, EXIT_FAILED),
            more={key: problem[key] for key in problem if key not in {"type", "title", "detail"}},
        )

    def record(self) -> dict[str, object]:
        """The error as JSON."""
        return {"error": self.problem | {"exitCode": self.exit_code}}


def usage(detail: str, hint: str = "") -> CliError:
    """An error in how a command was called."""
    return CliError(detail, hint=hint, slug="usage", exit_code=EXIT_USAGE)


def understand(error: Exception) -> CliError:
    """Any expected error as one to print; others are raised again."""
    if isinstance(error, CliError):
        return error
    if isinstance(error, YardError) and error.document:
        return CliError.of_problem(error.document)
    if isinstance(error, YardError):
        from mcpyard.api.problems import problem_of

        cli_error = CliError.of_problem(problem_of(error).to_dict())
        cli_error.exit_code = edge(error).exit_code
        return cli_error
    if of_typer := _of_typer(error):
        return usage(of_typer.format_message(), _usage_hint(of_typer))
    if isinstance(error, UnicodeEncodeError):
        return usage("a name, a path or a text is not valid UTF-8", "write it in UTF-8")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        hint = "check the path and its permissions" if where else ""
        return CliError(f"{where}{error.strerror or error}", hint=hint)
    raise error


def _of_typer(error: Exception) -> "typer.TyperException | None":
    # Where it is not loaded, it raised nothing.
    if "typer" not in sys.modules:
        return None
    import typer

    return error if isinstance(error, typer.TyperException) else None


def _usage_hint(error: "typer.TyperException") -> str:
    command = getattr(getattr(error, "ctx", None), "info_name", None)
    unknown = hasattr(error, "option_name") and not getattr(error, "possibilities", None)
    if unknown and command in _TAKING_COMMANDS:
        return f"put the command of the server after --: mcpyard {command} NAME -- COMMAND ARGS"
    return _HELP


def complain(error: Exception, *, as_json: bool) -> int:
    """Print an error; returns the exit code."""
    cli_error = understand(error)
    # With standard output closed, the exit code is left.
    with contextlib.suppress(OSError):
        if as_json:
            print(json.dumps(cli_error.record()))
        else:
            _print(cli_error.problem)
    return cli_error.exit_code


def _print(problem: Mapping[str, object]) -> None:
    print(f"error: {clean(str(problem['detail']))}", file=sys.stderr)
    if "hint" in problem:
        print(f"hint: {clean(str(problem['hint']))}", file=sys.stderr)
    for line in _log_lines(problem):
        print(f"  | {clean(line)}", file=sys.stderr)


def _log_lines(problem: Mapping[str, object]) -> list[str]:
    lines = sequence_of(object_of(problem.get("cause")).get("stderr"))
    return [str(each) for each in lines[-_SHOWN_STDERR:]]
