"""Which values a program accepts in an entry, and what a wrong one costs.

The tables are made by asking the programs (`scripts/prove real_clients`), because documentation
tells neither: one program refuses its whole file over a number that another never looks at. A word
that is in no table is one that the program does not look at.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.narrowing import is_array, is_mapping

_LARGE: Final = 2**31
_ENDLESS: Final = 2**64
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


class Kind(StrEnum):
    """What sort of value stands under a word; programs differ in which of them they accept."""

    NULL = "null"
    TRUE = "true"
    FALSE = "false"
    NEGATIVE = "negative"
    ZERO = "zero"
    INTEGER = "integer"
    POINT_ZERO = "point-zero"
    FRACTION = "fraction"
    LARGE = "large"
    ENDLESS = "endless"
    EMPTY = "empty"
    TEXT = "text"
    ADDRESS = "address"
    EMPTY_LIST = "empty-list"
    TEXTS = "texts"
    ITEMS = "items"
    OBJECTS = "objects"
    EMPTY_OBJECT = "empty-object"
    PAIRS = "pairs"
    MEMBERS = "members"
    OTHER = "other"


_NOTHING: Final = frozenset({Kind.NULL, Kind.FALSE, Kind.ZERO, Kind.EMPTY})
"""What counts as nothing where a program only asks whether there is something."""

_EXPECTED: Final = (
    ("a string", frozenset({Kind.TEXT, Kind.EMPTY})),
    ("a string that is not empty", frozenset({Kind.TEXT})),
    ("a URL", frozenset({Kind.ADDRESS})),
    ("true or false", frozenset({Kind.TRUE, Kind.FALSE})),
    ("false", frozenset({Kind.FALSE})),
    ("a number", frozenset({Kind.INTEGER, Kind.FRACTION})),
    ("a whole number", frozenset({Kind.INTEGER})),
    ("a list of strings", frozenset({Kind.TEXTS})),
    ("a list of objects", frozenset({Kind.OBJECTS})),
    ("an object of strings", frozenset({Kind.PAIRS})),
    ("an object", frozenset({Kind.EMPTY_OBJECT})),
)
"""Words for what is accepted; the first whose kinds are all accepted names it."""


class Harm(StrEnum):
    """What a value costs that is not accepted: the entry, or all of the file."""

    ENTRY = "entry"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Values:
    """What a program accepts under one word.

    Attributes:
        accepts: Kinds of values; none where the word itself is refused.
        harm: What any other kind costs.
        texts: The only texts that are accepted, where not every one is.
        missing: What it costs to leave the word out.
        worse: Kinds that cost the file where the others cost the entry.
    """

    accepts: frozenset[Kind]
    harm: Harm = Harm.ENTRY
    texts: frozenset[str] = frozenset()
    missing: Harm | None = None
    worse: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True)
class Needs:
    """A word that is refused without another one, or without one value of it."""

    word: str
    other: str
    harm: Harm
    value: str = ""


@dataclass(frozen=True, slots=True)
class Alternate:
    """How else an entry is read that has certain words.

    Attributes:
        facts: What is accepted then.
        field_names: The words, any of which makes it so, if its value is of one of the kinds.
        kinds: The kinds; any where there are none.
        unless: A word with which it is not so.
        only: Whether an entry that is refused then is not read in the usual way either.
        objects: Words that make it so if their value is an object, even an empty one.
    """

    facts: "ValueFacts"
    field_names: tuple[str, ...]
    kinds: frozenset[Kind] = frozenset()
    unless: str = ""
    only: bool = False
    objects: tuple[str, ...] = ()

    def fits(self, raw: Mapping[str, object]) -> bool:
        """Whether an entry is read so."""
        if self.unless in raw:
            return False
        if any(is_mapping(raw.get(word)) for word in self.objects):
            return True
        values = (value for word in self.field_names for _, value in values_at(raw, word))
        return any(not self.kinds or kind_of(value) in self.kinds for value in values)


Table = Mapping[str, Values]
"""Values by words; `a.b` is a member, `a[]` an item and `a.*` any member."""


@dataclass(frozen=True, slots=True)
class ValueFacts:
    """What one version of a program accepts.

    Attributes:
        version: The version that was asked.
        entry: What an entry itself can be.
        local: What it accepts of a server that it starts.
        remote: What it accepts of a server that it calls.
        remote_types: The types that make an entry a remote one.
        local_types: The types that make it a local one.
        addresses: The words that make an entry of no such type a remote one.
        address_first: Whether they do so even beside a command.
        needs: Words that depend on each other.
        rescued_by: A word that, with true, turns what costs the file into what costs the entry;
            with false, the entry is switched off, whatever else is in it.
        alternate: How else some entries are read.
        off: Words and values with which the program lists an entry as switched off.
    """

    version: str
    entry: Values
    local: Table
    remote: Table
    remote_types: frozenset[str] = frozenset()
    local_types: frozenset[str] = frozenset()
    addresses: tuple[str, ...] = ("url",)
    address_first: bool = False
    needs: tuple[Needs, ...] = field(default=())
    rescued_by: str = ""
    alternate: Alternate | None = None
    off: tuple[tuple[str, str], ...] = ()


class ValueRefusal(NamedTuple):
    """A value that a program does not accept: where it stands, why, and what it costs."""

    word: str
    message: str
    harm: Harm
    missing: bool = False


def kinds(words: str) -> frozenset[Kind]:
    """Kinds by their words, for the tables."""
    return frozenset(map(Kind, words.split()))


def all_but(words: str) -> frozenset[Kind]:
    """All kinds but some."""
    return frozenset(Kind) - kinds(words)


def kind_of(value: object) -> Kind:
    """The kind of a value."""
    if value is None:
        return Kind.NULL
    if isinstance(value, bool):
        return Kind.TRUE if value else Kind.FALSE
    if isinstance(value, (int, float)):
        return _kind_of_number(value)
    if isinstance(value, str):
        return (Kind.ADDRESS if _SCHEME.match(value) else Kind.TEXT) if value else Kind.EMPTY
    if is_array(value):
        return _kind_of_list(value)
    return _kind_of_object(value) if is_mapping(value) else Kind.OTHER


def _kind_of_number(value: float) -> Kind:
    if not math.isfinite(value) or value >= _ENDLESS:
        return Kind.ENDLESS
    if value <= 0:
        return Kind.NEGATIVE if value < 0 else Kind.ZERO
    if value >= _LARGE:
        return Kind.LARGE
    if isinstance(value, int):
        return Kind.INTEGER
    # 5.0 is a whole number in JSON, and no integer in TOML.
    return Kind.POINT_ZERO if value.is_integer() else Kind.FRACTION


def _kind_of_list(items: list[object]) -> Kind:
    if not items:
        return Kind.EMPTY_LIST
    if all(isinstance(each, str) for each in items):
        return Kind.TEXTS
    return Kind.OBJECTS if any(is_mapping(each) for each in items) else Kind.ITEMS


def _kind_of_object(members: Mapping[str, object]) -> Kind:
    if not members:
        return Kind.EMPTY_OBJECT
    texts = all(isinstance(each, str) for each in members.values())
    return Kind.PAIRS if texts else Kind.MEMBERS


def refused(raw: object, facts: ValueFacts) -> tuple[ValueRefusal, ...]:
    """What a program does not accept of an entry."""
    if not is_mapping(raw):
        return (_refusal("", raw, facts.entry),)
    alternate = facts.alternate
    if alternate is not None and alternate.fits(raw):
        refusals = _refused(raw, alternate.facts)
        if alternate.only or not refusals:
            return refusals
    return _refused(raw, facts)


def _refused(raw: Mapping[str, object], facts: ValueFacts) -> tuple[ValueRefusal, ...]:
    rescue = raw.get(facts.rescued_by)
    if rescue is False:
        # Nothing else of it is read: it is switched off.
        return ()
    table = facts.remote if is_remote(raw, facts) else facts.local
    refusals = [*_wrong_values(raw, table), *_missing(raw, table), *_unmet(raw, facts, table)]
    if rescue is True:
        refusals = [each._replace(harm=Harm.ENTRY) for each in refusals]
    return tuple(refusals)


def costs_entry(refusals: tuple[ValueRefusal, ...]) -> bool:
    """Whether no more than the entry is lost: what is left out can no longer cost the file."""
    return not refusals or any(each.harm is Harm.ENTRY for each in refusals)


def is_remote(raw: Mapping[str, object], facts: ValueFacts) -> bool:
    """Whether the program takes an entry for a server that it calls."""
    kind = raw.get("type")
    if isinstance(kind, str) and kind in facts.remote_types | facts.local_types:
        return kind in facts.remote_types
    if facts.address_first:
        return any(kind_of(raw.get(word)) not in _NOTHING for word in facts.addresses)
    return raw.get("command") is None and any(raw.get(each) is not None for each in facts.addresses)


def _wrong_values(raw: Mapping[str, object], table: Table) -> Iterator[ValueRefusal]:
    for path, values in table.items():
        for where, value in values_at(raw, path):
            unknown = bool(values.texts) and isinstance(value, str) and value not in values.texts
            if unknown or kind_of(value) not in values.accepts:
                yield _refusal(where, value, values)


def _missing(raw: Mapping[str, object], table: Table) -> Iterator[ValueRefusal]:
    for path, values in table.items():
        if values.missing is None:
            continue
        above, _, word = path.rpartition(".")
        for where, value in values_at(raw, above):
            if is_mapping(value) and word not in value:
                yield ValueRefusal(f"{where}.{word}".strip("."), "is missing", values.missing, True)


def _unmet(raw: Mapping[str, object], facts: ValueFacts, table: Table) -> Iterator[ValueRefusal]:
    for need in (each for each in facts.needs if each.word in table):
        others = [value for _, value in values_at(raw, need.other)]
        met = need.value in others if need.value else bool(others)
        for where, _ in () if met else values_at(raw, need.word):
            other = f'{need.other} = "{need.value}"' if need.value else need.other
            yield ValueRefusal(where, f"is refused without {other}", need.harm)


def values_at(raw: object, path: str) -> Iterator[tuple[str, object]]:
    """Every value at a path, with the way to it."""
    if not path:
        yield "", raw
        return
    above, _, word = path.rpartition(".")
    items = word.endswith("[]")
    for where, value in values_at(raw, above):
        if not is_mapping(value):
            continue
        name = word.removesuffix("[]")
        for key in [*value] if name == "*" else [name] if name in value else []:
            spelled = f"{where}.{key}".strip(".")
            if items:
                yield from _items(spelled, value[key])
            else:
                yield spelled, value[key]


def _items(where: str, value: object) -> Iterator[tuple[str, object]]:
    for index, each in enumerate(value if is_array(value) else ()):
        yield f"{where}[{index}]", each


def _refusal(where: str, value: object, values: Values) -> ValueRefusal:
    kind = kind_of(value)
    harm = Harm.FILE if kind in values.worse else values.harm
    return ValueRefusal(where, _why(value, kind, values), harm)


def _why(value: object, kind: Kind, values: Values) -> str:
    if not values.accepts:
        return "is refused here"
    if values.texts and kind in {Kind.TEXT, Kind.EMPTY, Kind.ADDRESS}:
        return f'"{str(value)[:40]}" is unknown; expected one of {", ".join(sorted(values.texts))}'
    expected = (words for words, accepted in _EXPECTED if accepted <= values.accepts)
    return f"expected {next(expected, 'another value')}, found {describe(value)}"
