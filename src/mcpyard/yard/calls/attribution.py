"""Where a result comes from and how old it is, as far as its server says so.

Servers say it in `_meta` or in their structured content, in words of their own; a few spellings are
understood. One that says nothing is named itself, and the date is unknown.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

from mcpyard.domain.narrowing import is_array, is_object, list_of, object_of

META_KEY: Final = "mcpyard/attribution"
"""The member of a result's `_meta` that says it outright."""

_MAX_ITEMS: Final = 50
"""Items of structured content that are looked at: the rest of a long list says the same."""

_MAX_SOURCES: Final = 5

_SOURCE: Final = ("source", "law")
_UPDATED: Final = (
    "updated_at", "updatedAt", "version_date", "versionDate", "last_updated", "lastModified"
)  # fmt: skip
_RETRIEVED: Final = ("retrieved_at", "retrievedAt", "imported_at", "importedAt")
_DETAILS: Final = ("law", "article", "title", "url", "version_date", "imported_at")

_Members: TypeAlias = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Attribution:
    """Where a result comes from.

    Attributes:
        source: Who says it: a law, a book, an address; at least the server's name.
        updated_at: Of which day it is, as its server writes dates; None when that is unknown.
        retrieved_at: When its server got it; None when that is unknown.
        details: What else was said: law, article, title, address.
    """

    source: str
    updated_at: str | None = None
    retrieved_at: str | None = None
    details: _Members = field(default_factory=dict[str, object])

    def __str__(self) -> str:
        when = f"updated {self.updated_at}" if self.updated_at else "date unknown"
        return f"{self.source} ({when})"

    def to_dict(self) -> dict[str, object]:
        """The attribution as REST shows it."""
        return {
            "source": self.source,
            "updatedAt": self.updated_at,
            "retrievedAt": self.retrieved_at,
            **({"details": dict(self.details)} if self.details else {}),
        }


def attribute(result: _Members, server: str) -> Attribution:
    """The attribution of a result that came from a server."""
    meta = _object(result.get("_meta"))
    said = _object(meta.get(META_KEY))
    found = [said] if said else [*_items(result.get("structuredContent"))]
    found = [each for each in found if _first(each, _SOURCE) or _first(each, _UPDATED)]
    if not found:
        return Attribution(server, _last_modified(result.get("content")))
    sources = [*dict.fromkeys(_first(each, _SOURCE) or server for each in found)]
    more = "; ..." if len(sources) > _MAX_SOURCES else ""
    return Attribution(
        "; ".join(sources[:_MAX_SOURCES]) + more,
        # Of several dates the oldest: a result is as old as its oldest part.
        min(_said(found, _UPDATED), default=None),
        min(_said(found, _RETRIEVED), default=None),
        _details(found, said),
    )


def _items(structured: object) -> Iterator[_Members]:
    """The objects that may tell of themselves: the whole, its members, and those of its lists."""
    whole = _object(structured)
    if whole:
        yield whole
    for value in whole.values():
        if is_object(value):
            yield value
        elif is_array(value):
            listed = islice(value, _MAX_ITEMS)
            yield from (each for each in listed if is_object(each))


def _details(found: list[_Members], said: _Members) -> dict[str, object]:
    known = {*_SOURCE[:1], *_UPDATED[:2], *_RETRIEVED[:2]}
    if said:
        return {key: value for key, value in said.items() if key not in known}
    details: dict[str, object] = {}
    for key in _DETAILS:
        values = [*dict.fromkeys(str(each[key]) for each in found if each.get(key) is not None)]
        if values:
            details[key] = values[0] if len(values) == 1 else values
    return details


def _last_modified(content: object) -> str | None:
    """The oldest date in the parts' own annotations."""
    listed = list_of(content)
    parts = [_object(each) for each in listed]
    notes = [_object(each.get("annotations")) for each in parts]
    return min(_said(notes, ("lastModified",)), default=None)


def _said(items: Iterable[_Members], keys: tuple[str, ...]) -> list[str]:
    return [word for each in items if (word := _first(each, keys))]


def _first(members: _Members, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        found = members.get(key)
        if isinstance(found, str) and found:
            return found
    return None


def _object(value: object) -> _Members:
    return object_of(value)
