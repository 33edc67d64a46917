"""The steps of an evaluation: each server by itself, then beside those of the same name."""

from dataclasses import replace
from functools import cached_property
from typing import Final

from msgspec import structs

from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.domain.narrowing import is_object, object_of
from mcpyard.formats.containers import EntryContainer
from mcpyard.formats.documents import Parsed, name_place
from mcpyard.formats.entries import Entry, field_of, understand
from mcpyard.formats.entry_list import FileListing, Listed, listing_of
from mcpyard.formats.facts import Client, ClientScope, Effective, Field
from mcpyard.formats.included import included_problems
from mcpyard.formats.locations import ClientFolders, ClientScopeRef, candidates, usable
from mcpyard.formats.rules import Judge, RuleVerdict
from mcpyard.formats.texts import ParsedFiles

_KEPT_OUT: Final = frozenset({Effective.UNTRUSTED, Effective.BLOCKED, Effective.INVALID})
_SETTLED: Final = _KEPT_OUT | {Effective.SHADOWED}
_ON: Final = RuleVerdict(Effective.ENABLED, "")


class Read:
    """A file of a scope while its servers are judged."""

    def __init__(
        self, ref: ClientScopeRef, path: str, parsed_files: ParsedFiles, host: ClientFolders
    ) -> None:
        text = parsed_files.text(path)
        self.path = path
        self.exists = text.text is not None or text.fault is not None
        self.parsed = parsed_files.open(path)
        self.listing = _listing(ref, self.parsed, parsed_files.problems.get(path, ()))
        lacking = included_problems(ref.client, host, text, parsed_files.texts)
        self.listing = replace(self.listing, problems=(*self.listing.problems, *lacking))
        self.verdicts: dict[str, RuleVerdict] = {}

    @property
    def ref(self) -> ClientScopeRef:
        """Whose file it is, with the shape it is in."""
        return self.listing.ref

    def raw(self, name: str) -> object:
        """A server as it is written."""
        return self._container.entries.get(name)

    def place(self, name: str, *steps: str) -> SourceLocation | None:
        """Where a server stands, or the innermost part of it that is there."""
        path, parsed = self._container.path_of(name), self._container.parsed
        for step in steps:
            if parsed.has((*path, step)):
                path = (*path, step)
        return name_place(parsed, path)

    @cached_property
    def _container(self) -> EntryContainer:
        assert self.parsed is not None  # noqa: S101  a listed server stands in a text
        return EntryContainer.of(self.ref, self.parsed)

    def same(self, name: str) -> Listed | None:
        """The server that the client takes for one of this name."""
        if not self.ref.client.names.folded:
            return next((each for each in self.listing.servers if each.name == name), None)
        folded = name.strip().casefold()
        servers = self.listing.servers
        return next((each for each in servers if each.name.strip().casefold() == folded), None)

    def counts(self, name: str) -> bool:
        """Whether the program takes the server into account beside others of its name."""
        state = self.verdicts[name].state
        if state is Effective.SHADOWED:
            return False
        rejected = state is Effective.DISABLED and bool(self.ref.scope.switch.on)
        return self.verdicts[name].hides or (state not in _KEPT_OUT and not rejected)


def judged(client: Client, host: ClientFolders, parsed_files: ParsedFiles) -> list[Read]:
    """The files of a client's scopes, weaker ones first within a scope, with all verdicts."""
    files = [
        Read(ClientScopeRef(client, scope, host.project), path, parsed_files, host)
        for scope in scopes_of(client, host)
        for path in (candidates(scope.location, host) if scope.location else ())
    ]
    _judge_each(files, host, parsed_files)
    _set_aside(files)
    if client.merges:
        _put_together(files)
    _spread_faults(files)
    _hide(files)
    return files


def sentence(problem: Problem) -> str:
    """A problem without its place, which stands beside it."""
    return str(structs.replace(problem, place=None))


def scopes_of(client: Client, host: ClientFolders) -> tuple[ClientScope, ...]:
    """The scopes that have files: without a project, none that depends on one."""
    return tuple(
        scope
        for scope in client.scopes
        if scope.location and usable(scope.location, scope.above, host)
    )


def _judge_each(files: list[Read], host: ClientFolders, parsed_files: ParsedFiles) -> None:
    """Judge each server as if it were the only one of its name."""
    for file in files:
        judge = Judge(file.ref, host, parsed_files, file.raw)
        scope = file.ref.scope
        # Where no file tells whether there is trust, what must be true is told instead.
        on = _ON if scope.rules else replace(_ON, reason=scope.trust)
        for listed in file.listing.servers:
            file.verdicts[listed.name] = (
                judge.ruled_out(listed.name, unread=True)
                or _invalid(file.listing.problems, alone=not file.ref.client.fragile)
                or _invalid(listed.problems, alone=listed.alone)
                or _off_by_entry(file, listed)
                or judge.switched_off(listed.name)
                or judge.ruled_out(listed.name, unread=False)
                or on
            )


def _set_aside(files: list[Read]) -> None:
    """Servers of a file that is not read because there is another one."""
    for index, file in enumerate(files):
        scope = file.ref.scope
        later = [each for each in files[index + 1 :] if each.ref.scope is scope and each.exists]
        if scope.location and scope.location.alone and later:
            reason = f"{file.ref.client.title} reads {later[-1].path} instead"
            file.verdicts = dict.fromkeys(file.verdicts, RuleVerdict(Effective.SHADOWED, reason))


def _put_together(files: list[Read]) -> None:
    """Judge entries of one name together, for a client that reads them as one."""
    by_name: dict[str, list[Read]] = {}
    for file in files:
        for name, verdict in file.verdicts.items():
            half = verdict.state is Effective.INVALID and not file.listing.problems
            if isinstance(file.raw(name), dict) and (half or file.counts(name)):
                by_name.setdefault(name, []).append(file)
    for name, parts in by_name.items():
        verdict = _together(name, parts)
        for part in parts:
            part.verdicts[name] = verdict


def _spread_faults(files: list[Read]) -> None:
    """Tell every server of a client that reads none of them while one is wrong."""
    verdicts = (item for file in files for item in file.verdicts.items())
    wrong = (item for item in verdicts if item[1].state is Effective.INVALID)
    bad = next((item for item in wrong if not item[1].alone), None)
    if bad is None:
        return
    culprit, fault = bad
    for file in files:
        reason = f'{file.ref.client.title} loads no servers while "{culprit}" is invalid'
        file.verdicts |= {
            name: RuleVerdict(Effective.INVALID, f"{reason}: {fault.reason}", fault.where)
            for name, verdict in file.verdicts.items()
            if verdict.state not in _KEPT_OUT
        }


def _hide(files: list[Read]) -> None:
    """Find the servers beside which another of the same name counts instead."""
    hidden = [
        (file, name, verdict)
        for file in files
        for name, own in file.verdicts.items()
        if own.hides or own.state not in _SETTLED
        if (verdict := _hidden(files, file, name))
    ]
    for file, name, verdict in hidden:
        file.verdicts[name] = verdict


def _listing(
    ref: ClientScopeRef, parsed: Parsed | None, problems: tuple[Problem, ...]
) -> FileListing:
    if parsed is None:
        return FileListing(ref, problems=problems)
    try:
        return listing_of(ref, parsed)
    except DocumentBroken as broken:
        return FileListing(ref, problems=broken.problems)


def _invalid(problems: tuple[Problem, ...], *, alone: bool) -> RuleVerdict | None:
    if not problems:
        return None
    return RuleVerdict(Effective.INVALID, sentence(problems[0]), problems[0].place, alone)


def _off_by_entry(file: Read, listed: Listed) -> RuleVerdict | None:
    raw = object_of(file.raw(listed.name))
    off = file.ref.shape.accepts.off if file.ref.shape.accepts else ()
    for word, value in off:
        if raw.get(word) == value:
            where = file.place(listed.name, word)
            return RuleVerdict(Effective.DISABLED, f'is disabled by {word} = "{value}"', where)
    if listed.enabled:
        return None
    word = next(each for each in raw if field_of(each, file.ref.shape) is Field.ENABLED)
    where = file.place(listed.name, word)
    return RuleVerdict(Effective.DISABLED, "is disabled in its entry", where)


def _together(name: str, parts: list[Read]) -> RuleVerdict:
    strongest = parts[-1]
    listed = strongest.listing.server(name)
    if len(parts) == 1:
        verdict = strongest.verdicts[name]
        stub = _stub(listed.entry or Entry(), listed)
        return stub if stub and verdict.state is not Effective.INVALID else verdict
    raw: object = {}
    for part in parts:
        raw = _merged(raw, part.raw(name))
    client, shape = strongest.ref.client, strongest.ref.shape
    reading = understand(object_of(raw), client, shape)
    if reading.problems:
        problem = structs.replace(reading.problems[0], field=f"{name}.{reading.problems[0].field}")
        return RuleVerdict(Effective.INVALID, str(problem), listed.place, reading.alone)
    if reading.entry.enabled is False:
        return RuleVerdict(Effective.DISABLED, "is disabled in one of its entries", listed.place)
    return _stub(reading.entry, listed) or _ON


def _stub(entry: Entry, listed: Listed) -> RuleVerdict | None:
    if entry.command is not None or entry.url is not None or entry.enabled is False:
        return None
    reason = "has neither a command nor a URL, in this file or any other"
    return RuleVerdict(Effective.INVALID, reason, listed.place, alone=True)


def _merged(lower: object, upper: object) -> object:
    if not is_object(lower) or not is_object(upper):
        return upper
    return {**lower, **{key: _merged(lower.get(key), each) for key, each in upper.items()}}


def _hidden(files: list[Read], file: Read, name: str) -> RuleVerdict | None:
    scope = file.ref.scope.name
    later = files.index(file)
    for index, other in enumerate(files):
        beside = other.ref.scope.name == scope and index > later
        winner = other.same(name) if beside or scope in other.ref.scope.hides else None
        if winner and other.counts(winner.name):
            other_name = f'"{winner.name}" of {other.ref} ({other.path})'
            merges = file.ref.client.merges
            reason = (
                f"is merged with {other_name}, which takes precedence"
                if merges
                else f"{other_name} wins"
            )
            return RuleVerdict(Effective.SHADOWED, reason, winner.place)
    return None
