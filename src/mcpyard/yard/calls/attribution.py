"""Where a result comes from and how old it is, as far as its server says so.

Servers say it in `_meta` or in their structured content, in words of their own; a few spellings are
understood. One that says nothing is named itself, and the date is unknown.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, TypeAlias

from msgspec import Struct, field

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


class Attribution(Struct, frozen=True):
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
    declared = _object(meta.get(META_KEY))
    items = [declared] if declared else [*_items(result.get("structuredContent"))]
    items = [each for each in items if _first(each, _SOURCE) or _first(each, _UPDATED)]
    if not items:
        return Attribution(server, _last_modified(result.get("content")))
    sources = [*dict.fromkeys(_first(each, _SOURCE) or server for each in items)]
    more = "; ..." if len(sources) > _MAX_SOURCES else ""
    return Attribution(
        "; ".join(sources[:_MAX_SOURCES]) + more,
        # Of several dates the oldest: a result is as old as its oldest part.
        min(_values(items, _UPDATED), default=None),
        min(_values(items, _RETRIEVED), default=None),
        _details(items, declared),
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


def _details(items: list[_Members], declared: _Members) -> dict[str, object]:
    named = {*_SOURCE[:1], *_UPDATED[:2], *_RETRIEVED[:2]}
    if declared:
        return {key: value for key, value in declared.items() if key not in named}
    details: dict[str, object] = {}
    for key in _DETAILS:
        values = [*dict.fromkeys(str(each[key]) for each in items if each.get(key) is not None)]
        if values:
            details[key] = values[0] if len(values) == 1 else values
    return details


def _last_modified(content: object) -> str | None:
    """The oldest date in the parts' own annotations."""
    listed = list_of(content)
    parts = [_object(each) for each in listed]
    notes = [_object(each.get("annotations")) for each in parts]
    return min(_values(notes, ("lastModified",)), default=None)


def _values(items: Iterable[_Members], keys: tuple[str, ...]) -> list[str]:
    return [word for each in items if (word := _first(each, keys))]


def _first(members: _Members, keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = members.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _object(value: object) -> _Members:
    return object_of(value)
