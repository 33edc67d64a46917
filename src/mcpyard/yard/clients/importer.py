"""What of all that is found on a machine is worth taking into the yard."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import DefinitionError, YardError
from mcpyard.domain.model import Scope
from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.effective import ServerStatus
from mcpyard.formats.entries import spell
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned
from mcpyard.yard.clients.connecting import is_gateway
from mcpyard.yard.clients.yard_scope import OwnServers
from mcpyard.yard.clients.yard_scope_documents import definition_of
from mcpyard.yard.views.clients import ImportOutcome, ImportView

IMPORTABLE: Final = "importable"
SKIPPED: Final = "skipped"
REFUSED: Final = "refused"
IMPORTED: Final = "imported"

Definition = dict[str, object]


@dataclass(frozen=True, slots=True)
class ImportCandidate:
    """A server that was found, and what becomes of it."""

    status: ServerStatus
    outcome: ImportOutcome
    reason: str = ""
    warnings: tuple[Warned, ...] = field(default=())

    @property
    def name(self) -> str:
        """What it is called."""
        return self.status.listed.name

    @property
    def importable(self) -> bool:
        """Whether it can be taken."""
        return self.outcome == IMPORTABLE

    def imported(
        self, warnings: tuple[Warned, ...], refusal: YardError | None
    ) -> "ImportCandidate":
        """What became of it when it was to be taken."""
        if refusal is not None:
            return replace(self, outcome=REFUSED, reason=refusal.message)
        return replace(self, outcome=IMPORTED, warnings=warnings)

    @property
    def view(self) -> ImportView:
        """As it is shown."""
        return ImportView(
            name=self.name,
            source=str(self.status.ref),
            outcome=self.outcome,
            reason=self.reason,
            warnings=[f"{each.field}: {each.message}" for each in self.warnings],
        )


class Taking:
    """Weighs one server after the other; each is taken once."""

    def __init__(self, target: ClientScopeRef, own: OwnServers, identity: SelfIdentity) -> None:
        self._target = target
        self._identity = identity
        self._known = {
            name: (definition_of(config), f"yard:{scope}")
            for scope in Scope
            for name, config in own.servers(scope).items()
        }

    def weigh_all(self, statuses: Iterable[ServerStatus]) -> list[ImportCandidate]:
        """What to do with each server that was found."""
        return [self._weigh(each) for each in statuses]

    def _weigh(self, status: ServerStatus) -> ImportCandidate:
        entry = status.listed.entry
        if entry is None or status.listed.problems:
            return ImportCandidate(status, REFUSED, "; ".join(map(str, status.listed.problems)))
        if is_gateway(entry, self._identity):
            return ImportCandidate(status, SKIPPED, "points back to this gateway (loop)")
        try:
            converted = convert(entry, status.ref, self._target)
            spelled = spell(converted.entry, self._target.shape)
            definition = definition_of(read_definition(spelled).config)
        except DefinitionError as error:
            return ImportCandidate(status, REFUSED, error.message)
        name = status.listed.name
        if name in self._known:
            return ImportCandidate(status, SKIPPED, self._why(name, definition))
        self._known[name] = definition, str(status.ref)
        return ImportCandidate(status, IMPORTABLE, "", converted.warnings)

    def _why(self, name: str, definition: Definition) -> str:
        present, where = self._known[name]
        if _launch(present) == _launch(definition):
            return f"is identical to the one in {where}"
        return f"differs from the one in {where}; copy it under another name to keep both"


def _launch(definition: Definition) -> Definition:
    words = {"command", "args", "env", "cwd", "url", "headers"}
    return {word: value for word, value in definition.items() if word in words}
