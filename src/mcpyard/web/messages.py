"""What the program has to say of itself, in the reader's language.

Causes, findings, warnings and errors are English where they arise. A cause, a finding and an error
have a code, by which the catalogues name them; every sentence is translated by its template.
"""

import re
from dataclasses import dataclass
from typing import Final

from mcpyard.domain.cause import HINTS, Cause
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import Problem, YardError
from mcpyard.formats.finding import Finding
from mcpyard.formats.mcp_json import KEY
from mcpyard.formats.warnings import Warned
from mcpyard.web.catalogues import Catalogue
from mcpyard.web.sentences import Pattern, Translated
from mcpyard.yard.views.servers import CauseView, ServerView

_ENDED: Final = re.compile(
    r"the process (?:exited with code (?P<exit>\d+)|was killed by (?:signal )?(?P<signal>\w+))"
)


@dataclass(frozen=True, slots=True)
class Message:
    """Something in the reader's language: what is so, what to do about it, what else is known."""

    says: str
    todo: str = ""
    detail: str = ""

    @property
    def line(self) -> str:
        """What is so, on one line."""
        return joined(self.says, " (", self.detail, ")") if self.detail else self.says

    @property
    def summary(self) -> str:
        """What is so with what else is known, and nothing said twice."""
        if not self.detail or self.detail.casefold().startswith(self.says.casefold()):
            return self.detail or self.says
        return joined(self.says, ": ", self.detail)


def cause_message(server: ServerView, t: Catalogue) -> Message:
    """Why a server is not connected; nothing where there is no cause."""
    return fault_message(server.error, t) if server.error else Message("")


def fault_message(cause: Cause | CauseView, t: Catalogue) -> Message:
    """A cause by itself, where nothing is known of the server."""
    # The catalogues know what each code asks for, in words that suit the page.
    is_usual = not cause.hint or cause.hint == HINTS[cause.code]
    todo = t(f"todo.{cause.code}") if is_usual else t.say(cause.hint)
    if ended := _ENDED.fullmatch(cause.message):
        if ended["exit"]:
            return Message(t("cause.exited.code", exit=ended["exit"]), todo)
        return Message(t("cause.exited.signal", signal=ended["signal"]), todo)
    says, detail = t(f"cause.{cause.code}"), t.say(cause.message)
    return Message(says, todo, "" if detail.casefold() == says.casefold() else detail)


def finding_message(finding: Finding, t: Catalogue) -> Message:
    """Something that a check found."""
    if t.native:
        return Message(finding.message, finding.hint)
    says = finding.sentence(lambda key: Pattern(t(f"lint.{key}")))
    todo = finding.advised(lambda key: Pattern(t(f"advice.{key}")))
    return Message(says, todo, t.say(finding.facts.get("detail", "")))


def note_message(note: Problem, name: str, t: Catalogue) -> Message:
    """Something odd about the definition or the tools of the server of that name."""
    if t.native:
        return Message(str(note))
    field = note.field.removeprefix(f"{KEY}.{name}").removeprefix(".")
    return Message(t.say(str(Problem(field, note.message))))


def warning_message(warned: Warned, t: Catalogue) -> Message:
    """What became of a field that was copied or changed."""
    return Message(t.say(warned.message))


def sentence_message(text: str, t: Catalogue) -> Message:
    """A sentence of the program."""
    return Message(t.say(text))


def error_message(error: YardError, t: Catalogue) -> Message:
    """Why something was not done."""
    if t.native:
        return Message(error.message)
    code, says = edge(error).problem, t.say(error.message)
    todo = t(f"remedy.{code}")
    if isinstance(says, Translated) and says.foreign:
        return Message(t(f"error.{code}"), todo, says)
    return Message(says, todo)


def joined(*texts: str) -> str:
    """Texts as one, which knows of its parts what they knew."""
    if not any(isinstance(each, Translated) for each in texts):
        return "".join(texts)
    parts = [each.parts if isinstance(each, Translated) else ((each, False),) for each in texts]
    return Translated.of(*(part for each in parts for part in each))
