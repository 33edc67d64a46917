"""How a command says that something went wrong: one or two lines, or one JSON object.

Light on purpose: a command that speaks to a running yard gets its problems ready-made.
"""

import contextlib
import json
import sys
from collections.abc import Mapping
from typing import Final, cast

import typer

from mcpyard.cli.output import clean
from mcpyard.domain.errors import EDGES, EXIT_UNREACHABLE, EXIT_USAGE, YardError, edge

EXIT_FAILED: Final = 1

_TYPE_PREFIX: Final = "urn:mcpyard:error:"
_SHOWN_STDERR: Final = 5
_HELP: Final = "mcpyard --help, or --help after a command"
_HINTS: Final = {
    "failed": "the words are the system's own; mcpyard doctor checks this machine",
    "refused": "is the command older than the yard? mcpyard --version",
    "usage": _HELP,
    "yard-ended": "start it again: mcpyard up",
    "yard-silent": "yard.log in the home says more; mcpyard paths tells where that is",
}
"""What to do about a complaint that does not know better."""

_TAKING_COMMANDS: Final = frozenset({"add", "edit"})


class Complaint(Exception):
    """What a command cannot do, ready to be told."""

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
        self.told: dict[str, object] = {
            "type": _TYPE_PREFIX + slug,
            "title": title,
            "detail": detail,
            **(more or {}),
        }
        if advice := hint or _HINTS.get(slug, ""):
            self.told["hint"] = advice

    @classmethod
    def of_problem(cls, problem: Mapping[str, object]) -> "Complaint":
        """What a yard answered."""
        slug = str(problem.get("type", "")).removeprefix(_TYPE_PREFIX)
        codes = {each.problem: each.exit_code for each in EDGES.values()}
        return cls(
            str(problem.get("detail", "the yard refused")),
            hint=str(problem.get("hint", "")),
            slug=slug or "refused",
            exit_code=codes.get(slug, EXIT_FAILED),
            more={key: problem[key] for key in problem if key not in {"type", "title", "detail"}},
        )

    def record(self) -> dict[str, object]:
        """What programs are told."""
        return {"error": self.told | {"exitCode": self.exit_code}}


def usage(detail: str, hint: str = "") -> Complaint:
    """A complaint about how a command was called."""
    return Complaint(detail, hint=hint, slug="usage", exit_code=EXIT_USAGE)


def not_running(home: object) -> Complaint:
    """A complaint that there is no yard to speak to."""
    return Complaint(
        f"not running: no yard holds {home}",
        hint="start one with: mcpyard up",
        slug="not-running",
        exit_code=EXIT_UNREACHABLE,
    )


def understand(error: Exception) -> Complaint:
    """Any error that a command may end with, as a complaint; others are raised again."""
    if isinstance(error, Complaint):
        return error
    if isinstance(error, YardError):
        from mcpyard.api.problems import problem_of

        complaint = Complaint.of_problem(problem_of(error).to_dict())
        complaint.exit_code = edge(error).exit_code
        return complaint
    if isinstance(error, typer.TyperException):
        return usage(error.format_message(), _usage_hint(error))
    if isinstance(error, UnicodeEncodeError):
        return usage("a name, a path or a text that was given is not UTF-8", "give it in UTF-8")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        hint = "check the path, and who may read and write there" if where else ""
        return Complaint(f"{where}{error.strerror or error}", hint=hint)
    raise error


def _usage_hint(error: typer.TyperException) -> str:
    command = getattr(getattr(error, "ctx", None), "info_name", None)
    strange = hasattr(error, "option_name") and not getattr(error, "possibilities", None)
    if strange and command in _TAKING_COMMANDS:
        return (
            f"options of the server itself stand behind --: mcpyard {command} NAME -- COMMAND ARGS"
        )
    return _HELP


def complain(error: Exception, *, as_json: bool) -> int:
    """Tell what went wrong; returns the exit code."""
    complaint = understand(error)
    # Where nobody takes the words, the exit code still tells.
    with contextlib.suppress(OSError):
        if as_json:
            print(json.dumps(complaint.record()))
        else:
            _tell(complaint.told)
    return complaint.exit_code


def _tell(told: Mapping[str, object]) -> None:
    print(f"error: {clean(str(told['detail']))}", file=sys.stderr)
    if "hint" in told:
        print(f"hint: {clean(str(told['hint']))}", file=sys.stderr)
    for line in _last_words(told):
        print(f"  | {clean(line)}", file=sys.stderr)


def _last_words(told: Mapping[str, object]) -> list[str]:
    cause = told.get("cause")
    lines = cast("dict[str, object]", cause).get("stderr") if isinstance(cause, dict) else None
    return [str(each) for each in cast("list[object]", lines or [])[-_SHOWN_STDERR:]]
