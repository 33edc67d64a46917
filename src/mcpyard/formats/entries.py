"""An entry in neutral words, as every client's file is read into and written from.

The texts in it stay in the dialect of the client that it was read from; absent is None, so that
what is empty in one file is empty in the other. Fields that the client's shape does not know are
kept under the words they were written with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import is_mapping, is_sequence
from mcpyard.formats.entry_values import READERS, Wrong
from mcpyard.formats.facts import (
    OPPOSITE,
    REMOTE_WAYS,
    Client,
    EntrySchema,
    EntryTransport,
    Unit,
)
from mcpyard.formats.fields import LOCAL_FIELDS, OAUTH_FIELDS, REMOTE_FIELDS, TIMES, Field
from mcpyard.formats.value_facts import ValueRefusal, costs_entry, is_remote, refused

_UNTRANSLATED: Final = OAUTH_FIELDS | {Field.ENV_VARS}
"""Fields that have forms which only their own client understands; those are left unknown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What an entry says of a server, by the names of `Field`; `unknown` is all else, as written.

    Times are in milliseconds. Of `env_vars`, `env_headers` and `bearer` the values are the names of
    variables that the program reads.
    """

    command: str | None = None
    args: tuple[str, ...] | None = None
    env: Mapping[str, str] | None = None
    url: str | None = None
    enabled: bool | None = None
    type: EntryTransport | None = None
    headers: Mapping[str, str] | None = None
    cwd: str | None = None
    call_timeout: float | None = None
    start_timeout: float | None = None
    only_tools: tuple[str, ...] | None = None
    except_tools: tuple[str, ...] | None = None
    env_vars: tuple[str, ...] | None = None
    env_headers: Mapping[str, str] | None = None
    bearer: str | None = None
    oauth_client_id: str | None = None
    oauth_client_secret: str | None = None
    oauth_client_metadata: str | None = None
    oauth_scopes: tuple[str, ...] | None = None
    oauth_callback_port: int | None = None
    oauth_redirect_uri: str | None = None
    oauth_authorization_url: str | None = None
    oauth_token_url: str | None = None
    oauth_audiences: tuple[str, ...] | None = None
    unknown: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def way(self) -> EntryTransport | None:
        """The way it is reached, heads or implied."""
        if self.type is not None:
            return self.type
        if self.command is not None:
            return EntryTransport.STDIO
        return EntryTransport.REMOTE if self.url is not None else None

    def set_fields(self) -> dict[Field, object]:
        """The fields it has, in order."""
        values = {name: getattr(self, name) for name in Field}
        return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Understood:
    """An entry as it was read, and what is wrong with it, in the words it was written with.

    `alone` tells whether the problems cost no more than the entry.
    """

    entry: Entry
    problems: tuple[Problem, ...] = ()
    alone: bool = True


def understand(raw: Mapping[str, object], client: Client, shape: EntrySchema) -> Understood:
    """Read an entry as its client would."""
    values: dict[Field, Any] = {}
    unknown: dict[str, object] = {}
    problems: list[Problem] = []
    refusals = refused(raw, shape.accepts) if shape.accepts else ()
    flat = opened(raw, shape)
    for word, value in flat.items():
        name = field_of(word, shape)
        if value is None or shape.fixed.get(word) == value or word == shape.own_name:
            continue
        if word in objects_of(shape) and _covers(refusals, word):
            problems.append(Problem(word, f"expected an object, found {describe(value)}"))
            continue
        if name is None:
            unknown |= {} if _is_default(word, value, flat, shape) else {word: value}
            continue
        try:
            values |= _values(name, word, value, shape)
            _check_whole(values, name, word, client, shape)
        except Wrong as wrong:
            if _harmless(name, word, raw, shape, refusals):
                unknown[word] = value
            else:
                problems.append(Problem(word + wrong.where, wrong.message))
    implied = [way for word, way in shape.url_ways.items() if flat.get(word) is not None]
    if implied:
        values.setdefault(Field.TYPE, implied[0])
    entry = replace(Entry(unknown=unknown), **values)
    problems = problems or _missing(entry, raw, client, shape)
    return Understood(entry, *_judged(refusals, problems, entry, client, shape))


def _harmless(
    name: Field,
    word: str,
    raw: Mapping[str, object],
    shape: EntrySchema,
    refusals: tuple[ValueRefusal, ...],
) -> bool:
    """Whether a value that has no place in an entry here is none of the program's problems."""
    if shape.accepts is None:
        return name in _UNTRANSLATED
    # Without a command there is no local server, whatever the program says to it.
    needed = name is Field.COMMAND and not is_remote(raw, shape.accepts)
    return not needed and not _covers(refusals, word)


def _covers(refusals: tuple[ValueRefusal, ...], word: str) -> bool:
    """Whether one of the refusals is about a word or something in it."""
    inside = (f"{word}.", f"{word}[")
    return any(each.word == word or each.word.startswith(inside) for each in refusals)


def _judged(
    refusals: tuple[ValueRefusal, ...],
    problems: list[Problem],
    entry: Entry,
    client: Client,
    shape: EntrySchema,
) -> tuple[tuple[Problem, ...], bool]:
    """What the program refuses, in the words that say most, and whether it costs no more."""
    if shape.accepts is None:
        return tuple(problems or _faults(entry, client, shape)), not client.fragile
    if not refusals or _is_stub(entry, shape, refusals):
        return tuple(problems), True
    if not problems:
        missing = any(each.missing for each in refusals)
        faults = _faults(entry, client, shape)
        problems = [each for each in faults if missing or _covers(refusals, each.field)]
    heads = {_head(each.field) for each in problems}
    rest = [each for each in refusals if not each.missing or not problems]
    fresh = [Problem(each.word, each.message) for each in rest if _head(each.word) not in heads]
    return (*problems, *fresh), costs_entry(refusals)


def _is_stub(entry: Entry, shape: EntrySchema, refusals: tuple[ValueRefusal, ...]) -> bool:
    """Whether it only switches a server on or off that is defined elsewhere."""
    empty = entry.command is None and entry.url is None and entry.enabled is not None
    return shape.stubs and empty and all(each.missing for each in refusals)


def _head(word: str) -> str:
    return word.split(".", 1)[0].split("[", 1)[0]


def spell(entry: Entry, shape: EntrySchema) -> dict[str, object]:
    """An entry in a shape's own words; what the shape has no word for is left out."""
    spelled: dict[str, object] = {}
    values = entry.set_fields()
    if shape.type_written and Field.TYPE not in values and entry.way in shape.type_written:
        values[Field.TYPE] = entry.way
    for name, word in shape.field_names.items():
        if name in values and not (shape.joined and name is Field.ARGS):
            spelled |= _spelled(name, word, values, shape)
    if entry.command is not None:
        spelled = {**shape.fixed, **spelled}
    for outer, members in shape.beside.items():
        inside = {word: each for word, each in spelled.items() if word.startswith(f"{outer}.")}
        if inside:
            spelled = {word: spelled[word] for word in spelled if word not in inside}
            spelled |= {**members, **inside}
    spelled |= {word: each for word, each in needed_of(entry, shape).items() if word not in spelled}
    return closed({**spelled, **entry.unknown}, shape)


def field_of(word: str, shape: EntrySchema) -> Field | None:
    """The field that a word means."""
    for name, own in shape.field_names.items():
        if own == word and not (shape.joined and name is Field.ARGS):
            return name
    return shape.also.get(word)


def needed_of(entry: Entry, shape: EntrySchema) -> Mapping[str, object]:
    """The words that an entry must have, with what they say where nothing else is said."""
    if entry.command is None and entry.url is None:
        return {}
    return shape.needed if entry.url is None else shape.needed_remote


def opened(raw: Mapping[str, object], shape: EntrySchema) -> dict[str, object]:
    """An entry with the objects opened whose members are fields: `timeout.startup`."""
    flat: dict[str, object] = {}
    for word, value in raw.items():
        if word in objects_of(shape) and is_mapping(value):
            flat |= {f"{word}.{member}": each for member, each in value.items()}
        else:
            flat[word] = value
    return flat


def closed(flat: Mapping[str, object], shape: EntrySchema) -> dict[str, object]:
    """The inverse of `opened`."""
    raw: dict[str, object] = {}
    inner: dict[str, dict[str, object]] = {}
    for word, value in flat.items():
        outer, dot, member = word.partition(".")
        if dot and outer in objects_of(shape):
            raw[outer] = inner.setdefault(outer, {})
            inner[outer][member] = value
        else:
            raw[word] = value
    return raw


def objects_of(shape: EntrySchema) -> set[str]:
    """The words under which an object of fields stands."""
    words = (*shape.field_names.values(), *shape.also)
    return {word.partition(".")[0] for word in words if "." in word}


def _values(name: Field, word: str, value: object, shape: EntrySchema) -> dict[Field, object]:
    joined = shape.joined or (shape.joinable and not isinstance(value, str))
    if name is Field.COMMAND and joined:
        command, *args = READERS[Field.ARGS](value) or [""]
        if not command.strip():
            raise Wrong("must not be empty")
        return {Field.COMMAND: command, Field.ARGS: tuple(args) if args else None}
    if name is Field.TYPE:
        return {name: _way(value, shape)}
    if word in shape.spaced and isinstance(value, str):
        return {name: tuple(value.split())}
    understood = READERS[name](value)
    if name is Field.ENABLED:
        understood = understood is not (word == OPPOSITE)
    if name in TIMES:
        understood = round(understood * shape.units.get(word, Unit()).milliseconds, 3)
    return {name: understood}


def _check_whole(
    values: Mapping[Field, Any], name: Field, word: str, client: Client, shape: EntrySchema
) -> None:
    # The others read a fraction, or cost no more than the entry.
    unit = shape.units.get(word, Unit())
    if client.fragile and name in TIMES and unit.whole and values[name] % unit.milliseconds:
        raise Wrong("expected a whole number")


def _way(value: object, shape: EntrySchema) -> EntryTransport:
    words: dict[str, EntryTransport] = {}
    for way, word in shape.types.items():
        words.setdefault(word, way)
    words |= shape.type_aliases
    if not isinstance(value, str):
        raise Wrong(f"expected a string, found {describe(value)}")
    if value not in words:
        raise Wrong(f'"{value[:40]}" is unknown; expected one of {", ".join(words)}')
    return words[value]


def _spelled(
    name: Field, word: str, values: Mapping[Field, object], shape: EntrySchema
) -> dict[str, object]:
    value = values[name]
    match name:
        case Field.COMMAND if shape.joined:
            return {word: [value, *cast("tuple[str, ...]", values.get(Field.ARGS, ()))]}
        case Field.TYPE:
            spelling = shape.types.get(EntryTransport(str(value)))
            return {word: spelling} if spelling else {}
        case Field.ENABLED:
            return {word: value is not (word == OPPOSITE)}
        case Field.URL:
            return {_url_word(word, values.get(Field.TYPE), shape): value}
        case _:
            return {word: _plain(value, word, shape)}


def _plain(value: object, word: str, shape: EntrySchema) -> object:
    """A value as a file has it."""
    if isinstance(value, (int, float)):
        time = value / shape.units.get(word, Unit()).milliseconds
        return int(time) if time == int(time) else time
    if not is_sequence(value):
        return value
    return " ".join(map(str, value)) if word in shape.spaced else list(value)


def _url_word(word: str, way: object, shape: EntrySchema) -> str:
    if Field.TYPE in shape.field_names:
        return word
    return next((each for each, means in shape.url_ways.items() if means == way), word)


def _faults(entry: Entry, client: Client, shape: EntrySchema) -> list[Problem]:
    """What keeps a client from using an entry whose fields are right one by one."""
    command = shape.field_names[Field.COMMAND]
    url = shape.field_names.get(Field.URL, "url")
    kind = shape.field_names.get(Field.TYPE, "type")
    if entry.command is not None and entry.url is not None:
        return [Problem(url, f"conflicts with {command}; set only one of them")]
    if entry.command is None and entry.url is None:
        missing = Problem(command, f"is missing, and so is {url}; set one of them")
        return [] if shape.stubs else [missing]
    if entry.type is None and entry.way in shape.type_needed:
        return [Problem(kind, f"is missing; {client.title} ignores such an entry")]
    if (entry.way in REMOTE_WAYS) is (entry.url is None):
        return [Problem(kind, f'"{entry.type}" contradicts {command if entry.command else url}')]
    return _misplaced_fields(entry, client, shape) if shape.exclusive else []


def _missing(
    entry: Entry, raw: Mapping[str, object], client: Client, shape: EntrySchema
) -> list[Problem]:
    """Words without which the client ignores the entry."""
    message = f"is missing; {client.title} ignores such an entry"
    return [Problem(word, message) for word in needed_of(entry, shape) if raw.get(word) is None]


def _is_default(word: str, value: object, flat: Mapping[str, object], shape: EntrySchema) -> bool:
    """Whether a word that no other client has says nothing."""
    outer = word.partition(".")[0]
    fields = any(each.startswith(f"{outer}.") and field_of(each, shape) for each in flat)
    beside: Mapping[str, object] = shape.beside.get(outer, {}) if fields else {}
    defaults = (shape.needed, shape.needed_remote, beside)
    return any(word in each and each[word] == value for each in defaults)


def _misplaced_fields(entry: Entry, client: Client, shape: EntrySchema) -> list[Problem]:
    """Fields of a local server in a remote one, or the reverse."""
    remote = entry.url is not None
    beside = shape.field_names[Field.URL if remote else Field.COMMAND]
    misplaced = LOCAL_FIELDS if remote else REMOTE_FIELDS
    return [
        Problem(shape.field_names[name], f"conflicts with {beside}; {client.title} rejects that")
        for name in entry.set_fields()
        if name in misplaced
    ]
