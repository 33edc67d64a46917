"""Which field a client can hold, under which word: two tables for one engine.

`native` is what the programs of today read, and is the facts themselves. `spec` is the matrix of
the specification to the letter; a program that it does not name is taken by its facts.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from mcpyard.formats.facts import Client, EntrySchema, Field

ABSENT: Final = "-"


class Matrix(StrEnum):
    """The table that a copy follows."""

    NATIVE = "native"
    SPEC = "spec"


SPEC_CLIENTS: Final = ("claude-code", "codex", "gemini", "opencode")

_SPEC_ROWS: Final[Mapping[Field, tuple[str, str, str, str]]] = {
    Field.COMMAND: ("command", "command", "command", "command[0]"),
    Field.ARGS: ("args", "args", "args", "command[1:]"),
    Field.ENV: ("env", "env", "env", "environment"),
    Field.URL: (ABSENT, "url", ABSENT, "url"),
    Field.ENABLED: (ABSENT, "enabled", ABSENT, ABSENT),
    Field.TYPE: (ABSENT, ABSENT, ABSENT, "type"),
    Field.HEADERS: (ABSENT, ABSENT, ABSENT, "headers"),
}

SPEC_TABLE: Final[Mapping[Field, Mapping[str, str]]] = {
    name: dict(zip(SPEC_CLIENTS, row, strict=True)) for name, row in _SPEC_ROWS.items()
}


def holds(matrix: Matrix, client: Client, shape: EntrySchema, name: Field) -> bool:
    """Whether an entry of the client can say the field."""
    if matrix is Matrix.SPEC and client.id in SPEC_CLIENTS:
        return not spec_drops(client, name)
    return name in shape.field_names


def spec_drops(client: Client, name: Field) -> bool:
    """Whether the specification's matrix has no place for a field."""
    if client.id not in SPEC_CLIENTS:
        return False
    return SPEC_TABLE.get(name, {}).get(client.id, ABSENT) == ABSENT
