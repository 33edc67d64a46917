"""What the program has to say of itself, in the reader's language.

Causes, findings, warnings and errors are English where they arise, and know most there. Each has a
code, by which the catalogues of the other languages say what is wrong and what to do, with names
and numbers in it; the English then follows as a detail.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from mcpyard.domain.cause import HINTS, Cause, Code
from mcpyard.domain.errors import Problem, YardError, edge
from mcpyard.formats.finding import Finding
from mcpyard.formats.mcp_json import KEY
from mcpyard.formats.warnings import Warned
from mcpyard.web.catalogues import Catalogue
from mcpyard.yard.intent import NOT_REMEMBERED
from mcpyard.yard.views.servers import ServerView

_PACKAGES: Final = {
    "npx": "Node.js",
    "node": "Node.js",
    "npm": "Node.js",
    "uvx": "uv",
    "uv": "uv",
    "docker": "Docker",
    "deno": "Deno",
    "bunx": "Bun",
}
"""What brings a command that servers are often started with."""

_HINTED: Final = frozenset(
    {Code.UNREACHABLE, Code.HTTP_ERROR, Code.GARBAGE, Code.FORBIDDEN, Code.UNSUPPORTED_VERSION}
)
"""Causes whose own hints know more than what there is to do for all of their code."""


@dataclass(frozen=True, slots=True)
class Message:
    """Something in the reader's language.

    Attributes:
        says: What is so.
        todo: What to do about it.
        detail: What there is in English only.
    """

    says: str
    todo: str = ""
    detail: str = ""

    @property
    def line(self) -> str:
        """What is so, on one line."""
        return f"{self.says} ({self.detail})" if self.detail else self.says


class _Subject(NamedTuple):
    """What a cause is about, as far as sentences name it."""

    name: str
    command: str = ""
    url: str = ""
    headers: frozenset[str] = frozenset()

    @property
    def program(self) -> str:
        """The command without its folder."""
        return PurePath(self.command).name


def told_cause(server: ServerView, t: Catalogue) -> Message:
    """Why a server is not connected; nothing where there is no cause."""
    headers = frozenset(name.lower() for name in server.headers or ())
    subject = _Subject(server.name, server.command or "", server.url or "", headers)
    error = server.error
    return _told(error.code, error.message, error.hint, subject, t) if error else Message("")


def told_fault(cause: Cause, t: Catalogue) -> Message:
    """A cause by itself, where nothing is known of the server."""
    it = t("told.it")
    return _told(cause.code, cause.message, cause.hint, _Subject(it, it), t)


def _told(code: Code, message: str, hint: str, subject: _Subject, t: Catalogue) -> Message:
    # The catalogues know what each code asks for, in words that suit the page.
    hint = "" if hint == HINTS[code] else hint
    facts = _facts(subject, t)
    says, todo = t(f"cause.{code}", **facts), t(_todo(code, subject), **facts)
    if t.native:
        return Message(says, hint or todo, message)
    return Message(says, todo, f"{message}. {hint}" if hint and code in _HINTED else message)


def told_finding(finding: Finding, t: Catalogue) -> Message:
    """Something that a check found."""
    if t.native:
        return Message(finding.message, finding.hint)
    says = finding.sentence(lambda key: t(f"lint.{key}"))
    todo = finding.advised(lambda key: t(f"advice.{key}"))
    return Message(says, todo, finding.facts.get("detail", ""))


def told_note(note: Problem, name: str, t: Catalogue) -> Message:
    """Something odd about the definition or the tools of the server of that name."""
    if t.native:
        return Message(str(note))
    field = note.field.removeprefix(f"{KEY}.{name}").removeprefix(".")
    return Message(t(f"note.{note_kind(field)}", field=field), detail=str(note))


def note_kind(field: str) -> str:
    """What a note on a field of a server is about."""
    if field in {"transport", "args"}:
        return "inferred"
    if "fallback[" in field:
        return "fallback"
    if field.startswith("tools["):
        return "tool"
    return {"": "this_yard", "name": "shadows", NOT_REMEMBERED: "unkept"}.get(field, "passed_over")


def told_warned(warned: Warned, t: Catalogue) -> Message:
    """What became of a field that was copied or changed."""
    if t.native:
        return Message(warned.message)
    return Message(t(f"warned.say.{warned.kind}"), detail=warned.message)


def told_reason(state: str, reason: str, t: Catalogue) -> Message:
    """Why a server of another program is in its state, which is the key of a look."""
    return Message(reason) if t.native else Message(t(f"why.{state}"), detail=reason)


def told_problem(problem: str, t: Catalogue) -> Message:
    """What is wrong with a file of another program."""
    return Message(problem) if t.native else Message(t("file.broken"), detail=problem)


def told_error(error: YardError, t: Catalogue) -> Message:
    """Why something was not done."""
    if t.native:
        return Message(error.message)
    code = edge(error).problem
    return Message(t(f"error.{code}"), t(f"remedy.{code}"), error.message)


def _todo(code: Code, subject: _Subject) -> str:
    if code is Code.NEEDS_AUTH and "authorization" in subject.headers:
        return "todo.needs_auth.token"
    if code is Code.COMMAND_MISSING and subject.program in _PACKAGES:
        return "todo.install"
    return f"todo.{code}"


def _facts(subject: _Subject, t: Catalogue) -> dict[str, str]:
    return {
        "name": subject.name,
        "place": subject.command or _host(subject.url) or t("told.it"),
        "program": subject.program,
        "package": _PACKAGES.get(subject.program, ""),
    }


def _host(url: str) -> str:
    """The host and port of an address, without what may be a secret beside them."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        return ""
