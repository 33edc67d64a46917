"""Shapes that many programs share, for facts that differ in a few words."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    REMOTE_WAYS,
    USUAL_NAMES,
    USUAL_TYPES,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
)
from mcpyard.formats.provenance import Provenance

PLAIN: Final = EntrySchema(field_names=USUAL_NAMES)
"""A command or an address, and nothing that says which."""

TYPED: Final = EntrySchema(
    field_names={Field.TYPE: "type", **USUAL_NAMES},
    types=USUAL_TYPES,
    type_aliases={"streamable-http": EntryTransport.HTTP},
    type_written=REMOTE_WAYS,
)
"""As in Claude Code: an address says its type."""

TRANSPORT: Final = replace(TYPED, field_names={Field.TYPE: "transport", **USUAL_NAMES})
"""The same under another word."""


def with_fields(shape: EntrySchema, fields: Mapping[Field, str]) -> EntrySchema:
    """A shape with the words of more fields."""
    return replace(shape, field_names={**shape.field_names, **fields})


def known(provenance: Provenance, scope: ClientScope) -> ClientScope:
    """A scope whose facts were found out in another way than those of its client."""
    return replace(scope, provenance=provenance)
