"""What other files say about a server: lists that switch it off, rules that block it, trust.

The facts name the places; here they are looked up. An answer comes with the place it was found at.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcpyard.domain.errors import SourceLocation
from mcpyard.domain.narrowing import is_array, is_object, list_of
from mcpyard.formats.documents import Parsed, value_at
from mcpyard.formats.facts import Condition, Effective, Location, Match, Rule, SwitchKind
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, filled, usable
from mcpyard.formats.switches import switch_location, switch_name
from mcpyard.formats.texts import ParsedFiles

_PARENT: Final = "TRUST_PARENT"
"""The word by which Gemini CLI trusts the folder above the one it stands beside."""


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """What a server is, why, where that is said, and whether it costs only this server."""

    state: Effective
    reason: str
    where: SourceLocation | None = None
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """Looks up what decides about the servers of one scope."""

    ref: ClientScopeRef
    host: ClientFolders
    parsed_files: ParsedFiles

    def switched_off(self, name: str) -> RuleVerdict | None:
        """Whether a list or a map of its own switch names the server."""
        switch = self.ref.scope.switch
        location = switch_location(self.ref)
        if location is None or switch.kind not in {SwitchKind.LIST, SwitchKind.MAP}:
            return None
        name = switch_name(self.ref, name)
        for parsed, keys in self._parsed((location,), switch.off):
            if switch.kind is SwitchKind.LIST:
                where = _named(parsed, keys, name, folded=False)
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
        for condition in rule.shuts:
            for where in self._locations(condition, name):
                return RuleVerdict(rule.state, rule.says, where)
        # Without a project there is nothing to be trusted.
        if (
            rule.opens
            and self.ref.project
            and not any(True for condition in rule.opens for _ in self._locations(condition, name))
        ):
            return RuleVerdict(rule.state, rule.says)
        return None

    def _locations(self, condition: Condition, name: str) -> Iterator[SourceLocation | None]:
        """The places that say what the condition looks for."""
        if condition.sign is Match.VARIABLE:
            if self.host.environment.get(condition.keys[0]) in condition.values:
                yield None
            return
        folded = self.ref.client.names.folded
        for parsed, keys in self._parsed(condition.files, condition.keys):
            if condition.sign is Match.FOLDERS:
                location = _folder_place(parsed, keys, self.ref.project, condition.values)
            elif condition.sign is Match.SAYS:
                says = value_at(parsed.value, keys) in condition.values
                location = parsed.place(keys) if says else None
            elif condition.sign is Match.NAMED:
                location = _named(parsed, keys, name, folded=folded)
            else:
                location = _unnamed(parsed, keys, name, folded=folded)
            if location:
                yield location

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


def _folded(name: object, *, folded: bool) -> object:
    return name.strip().lower() if folded and isinstance(name, str) else name


def _named(
    parsed: Parsed, keys: tuple[str, ...], name: str, *, folded: bool
) -> SourceLocation | None:
    names = [_folded(each, folded=folded) for each in _names(value_at(parsed.value, keys))]
    key = _folded(name, folded=folded)
    return parsed.place((*keys, names.index(key))) if key in names else None


def _unnamed(
    parsed: Parsed, keys: tuple[str, ...], name: str, *, folded: bool
) -> SourceLocation | None:
    listed = value_at(parsed.value, keys)
    names = _names(listed)
    # A rule by command or address may let the server in; only names can be judged here.
    judged = isinstance(listed, list) and all(isinstance(each, str) for each in names)
    if not judged or _named(parsed, keys, name, folded=folded):
        return None
    return parsed.place(keys)


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
