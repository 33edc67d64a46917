"""What a check of a client's files has to say.

A finding carries no finished sentence but the ids of what it says and advises, with their facts:
`SAYS` and `ADVICE` put them into English, the page's catalogues into other languages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.formats.facts import Client
from mcpyard.formats.locations import ClientScopeRef

Facts = Mapping[str, str]
"""What fills the blanks of a sentence; nothing of it is a secret."""


class Level(StrEnum):
    """How bad it is: the program stumbles; something is not as it seems; worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about a finding.

    Attributes:
        steps: Ids of `ADVICE`; each but the last has a blank `then` for what follows.
        facts: What fills the other blanks.
    """

    steps: tuple[str, ...]
    facts: Facts = field(default_factory=dict[str, str])

    def after(self, step: str) -> "Advice":
        """This advice as what comes after a first step."""
        return Advice((step, *self.steps), self.facts)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: an id of `SAYS`, which begins with its rule, and where it stands.

    The scope is empty for a file that belongs to none, the name for all of a file. The facts fill
    the blanks of what it says; `program` is what the client calls itself.
    """

    says: str
    client: str
    scope: str
    name: str
    place: SourceLocation | None
    facts: Facts
    advice: Advice

    @property
    def code(self) -> str:
        """The rule, as a word that stays the same."""
        return self.says.partition("/")[0]

    @property
    def level(self) -> Level:
        """How bad it is."""
        return RULES[self.code][0]

    @property
    def message(self) -> str:
        """What is so, as a sentence that gives no secret away."""
        return self.sentence(SAYS.__getitem__)

    @property
    def hint(self) -> str:
        """What to do about it."""
        return self.advised(ADVICE.__getitem__)

    def sentence(self, text_of: Callable[[str], str]) -> str:
        """What is so, in the words that are there for the id of it."""
        return text_of(self.says).format_map(self.facts)

    def advised(self, text_of: Callable[[str], str]) -> str:
        """What to do about it, in the words that are there for the id of each step."""
        then = ""
        for step in reversed(self.advice.steps):
            then = text_of(step).format_map({**self.facts, **self.advice.facts, "then": then})
        return then


RULES: Final[Mapping[str, tuple[Level, str]]] = {
    "file-broken": (Level.ERROR, "the file cannot be read at all"),
    "not-strict-json": (
        Level.ERROR,
        "a comment or a trailing comma, which the program cannot read",
    ),
    "byte-order-mark": (Level.ERROR, "a byte order mark (BOM), which the program cannot read"),
    "entry-invalid": (Level.ERROR, "the program ignores the entry because it is invalid"),
    "url-without-type": (Level.ERROR, "a URL without the type that the program requires"),
    "empty-command": (Level.ERROR, "the command is empty"),
    "unknown-field": (Level.WARNING, "a field that the program reports as unknown at every start"),
    "ignored-field": (Level.WARNING, "a field of other programs, which this program ignores"),
    "needless-type": (Level.INFO, "a type that the program does not need"),
    "foreign-reference": (Level.WARNING, "a variable reference that the program does not expand"),
    "secret-tracked": (Level.ERROR, "a plain-text secret in a file that is tracked by git"),
    "secret-readable": (Level.WARNING, "a plain-text secret in a file that every user can read"),
    "secret-visible": (
        Level.WARNING,
        "a plain-text secret in arguments or a URL, which process lists and logs show",
    ),
    "duplicate-name": (Level.WARNING, "two entries that the program treats as one server"),
    "name-refused": (Level.WARNING, "a name that the program does not accept"),
    "mixed-shapes": (Level.WARNING, "an entry in the format of another version of the program"),
    "shadowed": (Level.INFO, "a server that is overridden by another one of the same name"),
}
"""Every code, how bad it is, and what it is about."""

SAYS: Final[Mapping[str, str]] = {
    "file-broken": "{detail}",
    "not-strict-json": "{detail}",
    "byte-order-mark": "{detail}",
    "entry-invalid": "{detail}",
    "url-without-type": "{detail}",
    "empty-command": "{field} is empty",
    "unknown-field": "{field} is unknown to {program}, which reports it at every start",
    "ignored-field": "{field} is not used by {program} and is ignored",
    "needless-type": "{field} is not used by {program} and is ignored",
    "foreign-reference": (
        "{field}: {program} does not expand this reference to {variable}; "
        "the server will get the text literally"
    ),
    "secret-tracked": "{field} contains a plain-text secret, and the file is tracked by git",
    "secret-readable": "{field} contains a plain-text secret that every user can read",
    "secret-visible": (
        "{field} contains a plain-text secret, which process lists and logs can show"
    ),
    "duplicate-name/case": 'differs only in case from "{other}"; both are the same server',
    "duplicate-name/again": '"{member}" is defined again below; the last definition is used',
    "name-refused": "{detail}",
    "mixed-shapes": "is outside of {home}, in the format of an older version",
    "shadowed": "{detail}",
}
"""What each rule says. A `detail` is a sentence of its own, of which there is only the English."""

ADVICE: Final[Mapping[str, str]] = {
    "mend-file": "fix the file; mcpyard does not write to it until then",
    "save-without-mark": "save the file without a byte order mark",
    "make-strict": "remove it; the file must be strict JSON",
    "mend-entry": "fix the entry",
    "add-type": 'add "{word}", for example "http"',
    "name-program": "set the command",
    "write-as": 'rename it to "{word}"',
    "take-out": "remove it",
    "switch-elsewhere": "remove it; servers are enabled and disabled in {switch}",
    "write-reference": "write {reference}",
    "name-variable": "list the variable in one of {words}",
    "read-variable": "{program} expands no references there; let the server read the variable",
    "use-gateway": "{program} expands no references there; use the gateway there",
    "change-secret": "replace the secret, then {then}",
    "use-keyring": "use ${{keyring:NAME}} or a variable",
    "close-file": "run chmod 600, or {then}",
    "keep-one": "keep one of them",
    "rename-one": "rename one of the two",
    "remove-one": "remove or rename one of the two",
    "rename-to": 'rename it, for example to "{better}"',
    "move-into": "move it into {home}",
}
"""Every piece of advice."""


def advice(step: str, **facts: str) -> Advice:
    """A piece of advice with its facts."""
    return Advice((step,), facts)


@dataclass(frozen=True, slots=True)
class Where:
    """What a finding is about: a server, or all of a file where there is no name."""

    ref: ClientScopeRef
    name: str
    place: SourceLocation | None

    def finding(self, says: str, todo: Advice, **facts: str) -> Finding:
        """A finding about it."""
        client, scope = self.ref.client, self.ref.scope.name
        parameters = {"program": client.title, **facts}
        return Finding(says, client.id, scope, self.name, self.place, parameters, todo)


def file_broken(client: Client, scope: str, problem: Problem, detail: str) -> Finding:
    """That a file, of a scope or of none, cannot be read."""
    facts = {"program": client.title, "detail": detail}
    return Finding("file-broken", client.id, scope, "", problem.place, facts, advice("mend-file"))
