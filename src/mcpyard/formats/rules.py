"""What other files say about a server: lists that switch it off, rules that block it, trust.

The facts name the places; here they are looked up. An answer comes with the place it was found at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from operator import eq
from typing import Final

from mcpyard.domain.errors import SourceLocation
from mcpyard.domain.narrowing import is_array, is_object, list_of
from mcpyard.formats.approvals import approval_state
from mcpyard.formats.documents import Parsed, value_at
from mcpyard.formats.facts import Condition, Effective, Location, Match, Rule, SwitchKind
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, filled, usable
from mcpyard.formats.switches import switch_location, switch_name
from mcpyard.formats.texts import ParsedFiles

_PARENT: Final = "TRUST_PARENT"
"""The word by which Gemini CLI trusts the folder above the one it stands beside."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What a server is, why, where that is said, and whether it costs only this server.

    A server that `hides` others of its name does so whatever it is.
    """

    state: Effective
    reason: str
    where: SourceLocation | None = None
    alone: bool = False
    hides: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """Looks up what decides about the servers of one scope; `raw` gives each as it is written."""

    ref: ClientScopeRef
    host: ClientFolders
    parsed_files: ParsedFiles
    raw: Callable[[str], object]

    def switched_off(self, name: str) -> RuleVerdict | None:
        """Whether a list or a map of its own switch names the server."""
        switch = self.ref.scope.switch
        location = switch_location(self.ref)
        if location is None or switch.kind not in {SwitchKind.LIST, SwitchKind.MAP}:
            return None
        name = switch_name(self.ref, name)
        for parsed, keys in self._parsed((location,), switch.off):
            if switch.kind is SwitchKind.LIST:
                where = _named(parsed, keys, partial(eq, name))
            elif value_at(parsed.value, (*keys, name, "enabled")) is False:
                where = parsed.place((*keys, name, "enabled"))
            else:
                where = None
            if where:
                return RuleVerdict(Effective.DISABLED, f"is disabled in {where.file}", where)
        return None

    def ruled_out(self, name: str, *, unread: bool) -> RuleVerdict | None:
        """The first rule that keeps the server out, of those of the whole file or of the others."""
        for rule in self.ref.scope.rules:
            if rule.unread is unread and (verdict := self._check_rule(rule, name)):
                return verdict
        return None

    def _check_rule(self, rule: Rule, name: str) -> RuleVerdict | None:
        if self._any(rule.unless, name):
            return None
        for condition in rule.shuts:
            for where in self._locations(condition, name):
                return RuleVerdict(rule.state, rule.says, where, hides=rule.hides)
        # Without a project there is nothing to be trusted.
        if rule.opens and self.ref.project and not self._any(rule.opens, name):
            return RuleVerdict(rule.state, rule.says, hides=rule.hides)
        return None

    def _any(self, conditions: tuple[Condition, ...], name: str) -> bool:
        return any(True for each in conditions for _ in self._locations(each, name))

    def _locations(self, condition: Condition, name: str) -> Iterator[SourceLocation | None]:
        """The places that say what the condition looks for."""
        if condition.sign is Match.VARIABLE:
            if self.host.environment.get(condition.keys[0]) in condition.values:
                yield None
        elif condition.sign is Match.DECIDED:
            yield from self._decided(condition, name)
        else:
            files = self._parsed(condition.files, condition.keys)
            places = (self._place(condition, name, parsed, keys) for parsed, keys in files)
            yield from (place for place in places if place)

    def _place(
        self, condition: Condition, name: str, parsed: Parsed, keys: tuple[str, ...]
    ) -> SourceLocation | None:
        """Where a file says what the condition looks for."""
        if condition.sign is Match.FOLDERS:
            return _folder_place(parsed, keys, self.ref.project, condition.values)
        if condition.sign is Match.SAYS:
            says = value_at(parsed.value, keys) in condition.values
            return parsed.place(keys) if says else None
        matches = _matcher(name, condition, folded=self.ref.client.names.folded)
        if condition.sign is Match.NAMED:
            return _named(parsed, keys, matches)
        return _unnamed(parsed, keys, matches)

    def _decided(self, condition: Condition, name: str) -> Iterator[SourceLocation]:
        """Where the user decided about the server as it is; only the strongest file is read."""
        path = candidates(condition.files[-1], self.host)[-1]
        keys = (*filled(condition.keys, self.ref.project), name)
        if parsed := self.parsed_files.open(path):
            record = value_at(parsed.value, keys)
            state = approval_state(record, self.raw(name), self.ref, self.host.environment)
            if state in condition.values:
                yield parsed.place(keys)

    def _parsed(
        self, files: tuple[Location, ...], keys: tuple[str, ...]
    ) -> Iterator[tuple[Parsed, tuple[str, ...]]]:
        """The files that exist, each with the path of keys to look at."""
        for location in files:
            if not usable(location, keys, self.host):
                continue
            for path in candidates(location, self.host):
                if parsed := self.parsed_files.open(path):
                    yield parsed, filled(keys, self.ref.project)


def _names(listed: object) -> list[object]:
    """The names in a list; an item that is an object names a server by a member of its own."""
    items = list_of(listed)
    return [value_at(item, ("serverName",)) or item for item in items]


def _matcher(name: str, condition: Condition, *, folded: bool) -> Callable[[object], bool]:
    """Whether an item of a list names the server."""

    def matches(listed: object) -> bool:
        if not isinstance(listed, str):
            return False
        if condition.patterns:
            return fnmatchcase(name, listed.replace("[", "[[]"))
        return listed == name or (folded and listed.strip().lower() == name.strip().lower())

    return matches


def _named(
    parsed: Parsed, keys: tuple[str, ...], matches: Callable[[object], bool]
) -> SourceLocation | None:
    for index, listed in enumerate(_names(value_at(parsed.value, keys))):
        if matches(listed):
            return parsed.place((*keys, index))
    return None


def _unnamed(
    parsed: Parsed, keys: tuple[str, ...], matches: Callable[[object], bool]
) -> SourceLocation | None:
    listed = value_at(parsed.value, keys)
    names = _names(listed)
    # A rule by command or address may let the server in; only names can be judged here.
    judged = isinstance(listed, list) and all(isinstance(each, str) for each in names)
    return None if not judged or any(map(matches, names)) else parsed.place(keys)


def _folder_place(
    parsed: Parsed, keys: tuple[str, ...], project: str, words: tuple[object, ...]
) -> SourceLocation | None:
    """Where the project is trusted, itself or by the nearest folder above it that is named."""
    folders = value_at(parsed.value, keys)
    if is_array(folders):
        positions = {each: number for number, each in enumerate(folders)}
        index = next((positions[each] for each in _upwards(project) if each in positions), None)
        return None if index is None else parsed.place((*keys, index))
    if not is_object(folders):
        return None
    rules = {
        (_above(folder) if word == _PARENT else folder): (folder, word)
        for folder, word in folders.items()
    }
    nearest = next((rules[each] for each in _upwards(project) if each in rules), None)
    if nearest is None or nearest[1] not in words:
        return None
    return parsed.place((*keys, nearest[0]))


def _upwards(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = _above(folder)


def _above(folder: str) -> str:
    cut = max(folder.rfind("/"), folder.rfind("\\"))
    return folder[:cut] if cut > 0 else ""
