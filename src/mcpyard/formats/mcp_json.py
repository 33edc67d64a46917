"""The project's `.mcp.json`: text to definitions, and definitions into text.

A document that cannot be read as a whole raises `DocumentBroken`, so that the last good one can
stay in force. One bad entry costs only itself: it is reported with its place and the others load.
An edit keeps the spelling it finds, and whatever the entry holds that we do not know.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from mcpyard.domain.continuation import first_items
from mcpyard.domain.definition import checks
from mcpyard.domain.definition.merge import oauth_of
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.definition.parsing import (
    OAUTH_WORDS,
    ParsedDefinition,
    describe,
    read_definition,
)
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.errors import DefinitionError, DocumentBroken, Problem, SourceLocation
from mcpyard.domain.model import Config, LocalConfig, RemoteConfig, Transport
from mcpyard.domain.narrowing import is_object, object_of
from mcpyard.formats.editors import jsonc
from mcpyard.formats.editors.jsonc_scan import OUTERMOST, begun, says_something

KEY: Final = "mcpServers"

_MAX_NOTES: Final = 20
"""Comments reported one by one; a file that is mostly comments needs no more to make the point."""

_LAUNCH_FIELDS: Final = {
    "local": ("command", "args", "env", "environment", "cwd"),
    "remote": ("url", "headers", "oauth"),
}


def read(text: str, owner: Owner, *, strict: bool = False) -> Document:
    """Read a `.mcp.json` once, or raise `DocumentBroken` (see `McpJsonReader`)."""
    return McpJsonReader(owner, strict=strict).read(text)


class _Seen(NamedTuple):
    """An entry as it was read."""

    spelling: str
    reading: ParsedDefinition
    definition: Definition


class _LastRead(NamedTuple):
    """What a text gave the last time; `skipped` are the problems of entries that cannot be used.

    The definitions, and their names as a person could confuse them, stand in the order of `seen`.
    """

    parsed: jsonc.JsoncDocument
    seen: Mapping[str, _Seen]
    skipped: Mapping[str, tuple[Problem, ...]]
    definitions: tuple[Definition, ...]
    folded: tuple[str, ...]


class McpJsonReader:
    """Reads one file again and again; of an entry that says the same, the definition is the same.

    What stands in front of a change is not even looked at.

    Args:
        owner: Who owns it; its place is the file's name in every message.
        strict: Skip an entry without `transport` or `args` instead of inferring them.
    """

    def __init__(self, owner: Owner, *, strict: bool = False) -> None:
        self._owner = owner
        self._strict = strict
        self._last: _LastRead | None = None

    @property
    def parsed(self) -> jsonc.JsoncDocument | None:
        """What the last text that could be read gave."""
        return self._last.parsed if self._last else None

    def read(self, text: str) -> Document:
        """Read the file's text, or raise `DocumentBroken`."""
        last = self._last
        along, file = (KEY, *OUTERMOST), self._owner.place
        parsed = jsonc.parse(text, file=file, along=along, before=last.parsed if last else None)
        same = parsed.unchanged((KEY,)) if last and not last.skipped else 0
        earlier: Mapping[str, _Seen] = last.seen if last else {}
        seen = first_items(earlier, same)
        skipped: dict[str, tuple[Problem, ...]] = {}
        for name, raw in islice(_entries(parsed).items(), same, None):
            try:
                seen[name] = self._read(parsed, name, raw, earlier.get(name))
            except DefinitionError as error:
                skipped[name] = error.problems
        definitions, folded = (last.definitions[:same], last.folded[:same]) if last else ((), ())
        definitions += tuple(each.definition for each in islice(seen.values(), same, None))
        folded += _folded([*islice(seen, same, None)])
        # In one step: two texts may be read at once.
        self._last = _LastRead(parsed, seen, skipped, definitions, folded)
        notes = (*_extras(parsed), *_alike(parsed, seen, folded))
        problems = tuple(problem for group in skipped.values() for problem in group)
        return Document(self._owner, definitions, problems, notes, frozenset(skipped))

    def _read(
        self, parsed: jsonc.JsoncDocument, name: str, raw: object, earlier: _Seen | None
    ) -> _Seen:
        place, spelling = parsed.member((KEY, name))
        if earlier is None or earlier.spelling != spelling:
            reading = _reading(parsed, name, raw, strict=self._strict)
        else:
            reading = earlier.reading
            if not reading.warnings and earlier.definition.place == place:
                return earlier
        warnings = tuple(_located(parsed, name, problem) for problem in reading.warnings)
        return _Seen(spelling, reading, Definition(name, reading.config, place, warnings))


def names(text: str) -> frozenset[str]:
    """The names in a text, of entries that can be used and of others; none in an empty text."""
    return frozenset(_entries(jsonc.parse(text))) if says_something(text) else frozenset()


def add(text: str, configs: Mapping[str, Config], before: jsonc.JsoncDocument | None = None) -> str:
    """The text with servers added that it does not have, in one edit.

    What did not change since an earlier state of the text was read is not read again.
    """
    entries = {name: spell(config) for name, config in configs.items()}
    return jsonc.add_members(begun(text), (KEY,), entries, before)


def put(text: str, name: str, config: Config) -> str:
    """The text with a server added, or changed to be `config` in the spelling it has there."""
    text = begun(text)
    old = _entries(jsonc.parse(text)).get(name)
    previous = old if is_object(old) else None
    entry = spell(config) if previous is None else respell(previous, config)
    return jsonc.set_member(text, (KEY, name), entry)


def remove(text: str, *names: str) -> str:
    """The text without servers, in one edit."""
    return jsonc.remove_members(text, (KEY,), names)


def rename(text: str, name: str, new_name: str) -> str:
    """The text with a server under another name, at the same place."""
    return jsonc.rename_member(text, (KEY, name), new_name)


def spell(config: Config) -> dict[str, object]:
    """A definition as we write it: launch fields alone, in words that every reader understands."""
    if isinstance(config, LocalConfig):
        entry: dict[str, object] = {"command": config.program, "args": config.args}
        if config.environment:
            entry["env"] = config.environment
        if config.cwd is not None:
            entry["cwd"] = config.cwd
        return entry | {"transport": "stdio"}
    # Programs that share the file know no word for "find out"; HTTP is what we would try first.
    word = str(config.transport or Transport.HTTP)
    entry = {"type": word, "url": config.url}
    if config.headers:
        entry["headers"] = config.headers
    if oauth := oauth_of(config):
        entry["oauth"] = oauth
    return entry | {"transport": word}


def respell(raw: Mapping[str, object], config: Config) -> dict[str, object]:
    """An entry changed to mean `config`, with the words, the order and the extras it has."""
    try:
        present = read_definition(raw).config
    except DefinitionError:
        return spell(config)
    if isinstance(config, LocalConfig) and isinstance(present, LocalConfig):
        return _respell_local(raw, present, config)
    if isinstance(config, RemoteConfig) and isinstance(present, RemoteConfig):
        return _respell_remote(raw, present, config)
    drop = {*_LAUNCH_FIELDS[present.type], "type", "transport"}
    return {key: value for key, value in raw.items() if key not in drop} | spell(config)


def _respell_local(
    raw: Mapping[str, object], old: LocalConfig, new: LocalConfig
) -> dict[str, object]:
    entry = dict(raw)
    if isinstance(raw["command"], list):
        entry["command"] = new.command
    else:
        entry["command"] = new.program
        if new.args != old.args:
            entry["args"] = new.args
    env = "environment" if "environment" in raw else "env"
    _change(entry, env, old.environment or None, new.environment or None)
    _change(entry, "cwd", old.cwd, new.cwd)
    return entry


def _respell_remote(
    raw: Mapping[str, object], old: RemoteConfig, new: RemoteConfig
) -> dict[str, object]:
    entry = dict(raw) | {"url": new.url}
    _change(entry, "headers", old.headers or None, new.headers or None)
    if oauth_of(new) != oauth_of(old):
        _change(entry, "oauth", raw.get("oauth"), _respell_oauth(raw.get("oauth"), new))
    if new.transport != old.transport:
        entry |= {"type": str(new.transport or "remote")}
        entry.pop("transport", None)
    return entry


def _respell_oauth(raw: object, new: RemoteConfig) -> dict[str, object] | None:
    members = object_of(raw)
    stays = {key: value for key, value in members.items() if key not in OAUTH_WORDS}
    return stays | (oauth_of(new) or {}) or None


def _change(entry: dict[str, object], key: str, old: object, new: object) -> None:
    if new == old:
        return
    if new is None:
        entry.pop(key, None)
    else:
        entry[key] = new


def _entries(parsed: jsonc.JsoncDocument) -> dict[str, object]:
    value = parsed.value
    if not is_object(value):
        raise _broken(parsed.place(()), "", f"expected an object, found {describe(value)}")
    servers = value.get(KEY)
    if servers is None:
        return {}
    if not is_object(servers):
        message = f"expected an object, found {describe(servers)}"
        raise _broken(parsed.place((KEY,)), KEY, message)
    return servers


def _broken(place: SourceLocation, field: str, message: str) -> DocumentBroken:
    return DocumentBroken.of(Problem(field, message, place))


def _reading(
    parsed: jsonc.JsoncDocument, name: str, raw: object, *, strict: bool
) -> ParsedDefinition:
    if fault := checks.name_fault(name):
        place = parsed.key_place((KEY, name))
        raise DefinitionError.of(Problem(f"{KEY}.{name[:80]}", f"the name {fault}", place))
    try:
        return read_definition(raw, strict=strict)
    except DefinitionError as error:
        located = (_located(parsed, name, problem) for problem in error.problems)
        raise DefinitionError.of(*located) from None


def _located(parsed: jsonc.JsoncDocument, name: str, problem: Problem) -> Problem:
    """A problem of an entry, with the place of the field it names or else of the entry."""
    field = f"{KEY}.{name}" + (f".{problem.field}" if problem.field else "")
    # A member we do not know may be called anything, also what reads like a way into another.
    for way in ((problem.field,), _path(problem.field), (_head(problem.field),)):
        path = (KEY, name, *way)
        if parsed.has(path):
            return Problem(field, problem.message, parsed.place(path))
    return Problem(field, problem.message, parsed.key_place((KEY, name)))


def _path(field: str) -> tuple[str | int, ...]:
    """`env.PORT` and `args[1]` as paths; the field names are ours, the rest is the user's."""
    head = _head(field)
    rest = field[len(head) :]
    if rest.startswith("["):
        index = whole_number(rest[1:-1])
        return (field,) if index is None else (head, index)
    return (head, rest[1:]) if rest else (head,)


def _head(field: str) -> str:
    return field.split(".", 1)[0].split("[", 1)[0]


def _extras(parsed: jsonc.JsoncDocument) -> Iterable[Problem]:
    for extra in parsed.extras[:_MAX_NOTES]:
        yield Problem("", f"{extra.what}: programs that require strict JSON reject it", extra.place)


def _alike(
    parsed: jsonc.JsoncDocument, names: Iterable[str], folded: Collection[str]
) -> Iterable[Problem]:
    """A warning for each name that a person could take for an earlier one."""
    if len({*folded}) == len(folded):
        return
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, alike in zip(names, folded, strict=True):
        first = groups[alike]
        if first:
            place = parsed.key_place((KEY, name))
            yield Problem(f"{KEY}.{name}", f'is easily confused with "{first[0]}"', place)
        first.append(name)


def _folded(names: Sequence[str]) -> tuple[str, ...]:
    """For each name what it has in common with those that a person could take it for."""
    # No name has a line end, so that all of them can be folded in one go.
    joined = unicodedata.normalize("NFKC", "\n".join(names)).casefold()
    return tuple(joined.split("\n")) if names else ()
