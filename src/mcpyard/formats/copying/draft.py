"""A copy while it is made: the values so far, and what is to be told.

The steps of a copy each change a draft. Whatever a step takes away goes through `drop`, so that no
loss goes without its one warning and nothing that was lost is forgotten.
"""

from dataclasses import replace
from typing import Any, Final

from mcpyard.formats.copying.matrix import SPEC_CLIENTS, Matrix, holds
from mcpyard.formats.entries import Entry, opened, spell
from mcpyard.formats.fields import OAUTH_FIELDS, TIMES, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned, WarningKind, shape_of_value

ALL_TOOLS: Final = ("*",)


class Draft:
    """The entry that a copy makes, before it is finished."""

    def __init__(
        self, entry: Entry, source: ClientScopeRef, target: ClientScopeRef, matrix: Matrix
    ) -> None:
        self.source = source
        self.target = target
        self.matrix = matrix
        self.values = entry.set_fields()
        self.warnings: list[Warned] = []
        self.left: dict[str, object] = {}
        self._spelled = opened(spell(entry, source.shape), source.shape)

    @property
    def literal(self) -> bool:
        """Whether the specification's matrix is followed."""
        return self.matrix is Matrix.SPEC and self.target.client.id in SPEC_CLIENTS

    @property
    def title(self) -> str:
        """What the target is called."""
        return self.target.client.title

    def holds(self, name: Field) -> bool:
        """Whether the target can say a field."""
        return holds(self.matrix, self.target.client, self.target.shape, name)

    def word(self, name: Field, where: str = "") -> str:
        """A field in the source's own words; `where` leads into it."""
        shape = self.source.shape
        word = shape.field_names.get(name, name.value)
        if not shape.joined or name not in {Field.COMMAND, Field.ARGS}:
            return word + where
        if name is Field.COMMAND:
            return f"{word}[0]"
        return f"{word}[{int(where[1:-1]) + 1}]" if where else f"{word}[1:]"

    def warn(
        self, kind: WarningKind, name: Field, reason: str, *, value: object = None, where: str = ""
    ) -> None:
        """Tell about a field, or about a part of it."""
        subject = self.values.get(name) if value is None else value
        if name in TIMES:
            # A number says nothing of its unit, so it is shown in the one that it is written in.
            subject = self._spelled.get(self.word(name), subject)
        text = shape_of_value(subject) if subject is not None else ""
        self.warnings.append(Warned(kind, self.word(name, where), text, reason))

    def drop(self, name: Field, reason: str, kind: WarningKind = WarningKind.UNSUPPORTED) -> None:
        """Leave a field out; one that says nothing is no loss, except to the letter."""
        value = self.values[name]
        if not self.literal and _says_nothing(name, value):
            kind, reason = WarningKind.INFO, "has no effect: dropped"
        self.warn(kind, name, reason)
        word = self.word(name)
        if word in self._spelled:
            self.left[word] = self._spelled[word]
        del self.values[name]

    def has_warning(self, name: Field) -> bool:
        """Whether something was told about a field or a part of it."""
        word = self.word(name)
        inside = (f"{word}.", f"{word}[")
        return any(each.field == word or each.field.startswith(inside) for each in self.warnings)

    def entry(self) -> Entry:
        """The entry as far as it is made."""
        values: dict[str, Any] = {name.value: value for name, value in self.values.items()}
        return replace(Entry(), **values)


def _says_nothing(name: Field, value: object) -> bool:
    if name is Field.ENABLED:
        return value is True
    if name in OAUTH_FIELDS:
        return not value
    return value in ((), {}) or (name is Field.ONLY_TOOLS and value == ALL_TOOLS)
