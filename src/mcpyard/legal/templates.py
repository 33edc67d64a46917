"""Document templates: texts with {{field|what belongs there}} in them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_FIELD: Final = re.compile(r"\{\{\s*([\w-]+)\s*(?:\|([^{}]*))?\}\}")


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why values don't fit a template: the fields without a value, and values without a field."""

    missing: tuple[str, ...]
    unknown: tuple[str, ...]


def fields(text: str) -> dict[str, str]:
    """The fields of a template in their order, each with what belongs there."""
    fields: dict[str, str] = {}
    for each in _FIELD.finditer(text):
        fields[each[1]] = fields.get(each[1]) or (each[2] or "").strip()
    return fields


def unfit(text: str, values: Mapping[str, object]) -> Unfit | None:
    """What keeps a template from being filled; None when nothing does."""
    required = fields(text)
    missing = tuple(name for name in required if not str(values.get(name, "")).strip())
    unknown = tuple(name for name in values if name not in required)
    return Unfit(missing, unknown) if missing or unknown else None


def fill(text: str, values: Mapping[str, object]) -> str:
    """The template with its values; braces inside a value stay as they are."""
    return _FIELD.sub(lambda match: str(values[match[1]]), text)
