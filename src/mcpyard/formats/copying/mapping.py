"""A server copied from one client to another: converted, with a warning for whatever changes.

`convert` is the same for a preview and for a commit. It never fails for what the target cannot
hold: that is left out and told. It refuses only what would keep the target from working.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, cast

from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.formats.copying.draft import ALL_TOOLS, Draft
from mcpyard.formats.copying.matrix import Matrix, spec_drops
from mcpyard.formats.copying.reference_steps import gather, spread, translate_texts
from mcpyard.formats.copying.shell_quoting import add_quotes, remove_quotes
from mcpyard.formats.entries import Entry, closed, opened, spell, understand
from mcpyard.formats.facts import EntryTransport, SwitchKind, Unit
from mcpyard.formats.fields import LOCAL_FIELDS, OAUTH_FIELDS, REMOTE_FIELDS, TIMES, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.switches import lacks_project, switch_words
from mcpyard.formats.warnings import Warned, WarningKind, shape_of_value

_REFERENCES: Final = frozenset({Field.ENV_VARS, Field.ENV_HEADERS, Field.BEARER})
_WITHOUT_WORD: Final = frozenset({EntryTransport.STDIO, EntryTransport.HTTP, EntryTransport.REMOTE})
_OWN_STEP: Final = _REFERENCES | {Field.TYPE, Field.ENABLED}


@dataclass(frozen=True, slots=True)
class Converted:
    """A copy, what became different, and what was left out, in the source's words, for `restore`.

    The entry keeps `enabled` even where another file says it.
    """

    entry: Entry
    warnings: tuple[Warned, ...] = ()
    left: Mapping[str, object] = field(default_factory=dict[str, object])


def convert(
    entry: Entry, source: ClientScopeRef, target: ClientScopeRef, matrix: Matrix = Matrix.NATIVE
) -> Converted:
    """Say in the target's means what the entry says in the source's.

    A reference that `read` returned knows the shape of its file; give those where there are files.

    Raises:
        DefinitionError: the target would refuse the entry, and perhaps all others with it.
    """
    _refuse_empty_command(entry, target)
    same = source.client.id == target.client.id
    draft = Draft(entry, source, target, Matrix.NATIVE if same else matrix)
    _leave_out(draft)
    _oauth(draft)
    _type(draft)
    _times(draft)
    _enabled(draft)
    if not same:
        remove_quotes(draft)
    gather(draft)
    translate_texts(draft)
    spread(draft)
    if not same:
        add_quotes(draft)
        _unknown(draft, entry)
        _what_the_matrix_says(draft, entry)
    finished = replace(draft.entry(), unknown=entry.unknown if same else {})
    warnings = (*draft.warnings, *_unusable(finished, target, draft.title), *_trust(target))
    return Converted(finished, warnings, draft.left)


def restore(entry: Entry, left: Mapping[str, object], ref: ClientScopeRef) -> Entry:
    """An entry that came back, with what was left out when it went.

    What was left out could not be changed while it was away, so it wins; unless it contradicts what
    the server has become.
    """
    client, shape = ref.client, ref.shape
    spelled = opened(spell(entry, shape), shape)
    usable = not understand(closed(spelled, shape), client, shape).problems
    restored = understand(closed({**spelled, **left}, shape), client, shape)
    return entry if usable and restored.problems else restored.entry


def _refuse_empty_command(entry: Entry, target: ClientScopeRef) -> None:
    if target.shape.joined and entry.command is not None and not entry.command.strip():
        message = f"must not be empty; {target.client.title} stores it as the first item of a list"
        raise DefinitionError.of(Problem("command", message))


def _leave_out(draft: Draft) -> None:
    """Leave out what the target has no word for, or no use."""
    foreign = draft.source.client.id != draft.target.client.id
    if foreign and draft.values.get(Field.ONLY_TOOLS) == ALL_TOOLS:
        draft.drop(Field.ONLY_TOOLS, "allows every tool, which is the default")
    for name in tuple(draft.values):
        if not draft.holds(name) and name not in _OWN_STEP:
            draft.drop(name, f"not supported by {draft.title}: dropped")
    remote = Field.URL in draft.values
    for name in tuple(draft.values):
        if draft.target.shape.exclusive and name in (LOCAL_FIELDS if remote else REMOTE_FIELDS):
            kind = "remote" if remote else "local"
            draft.drop(name, f"{draft.title} rejects it for a {kind} server: dropped")


def _oauth(draft: Draft) -> None:
    """Leave out what is of no use for the sign-in, or what the target refuses as it stands."""
    if draft.source.client.id == draft.target.client.id:
        return
    for name in tuple(draft.values):
        if name in OAUTH_FIELDS and (Field.URL not in draft.values or not draft.values[name]):
            draft.drop(name, "has no effect: dropped", WarningKind.INFO)
    words, accepts = draft.target.shape.field_names, draft.target.shape.accepts
    for need in accepts.needs if accepts else ():
        name = next((each for each in draft.values if words.get(each) == need.word), None)
        if name and need.other not in {words.get(each) for each in draft.values}:
            draft.drop(name, f"{draft.title} accepts it only with {need.other}: dropped")


def _type(draft: Draft) -> None:
    if Field.TYPE not in draft.values:
        return
    way = cast("EntryTransport", draft.values[Field.TYPE])
    shape = draft.target.shape
    if not draft.holds(Field.TYPE):
        _type_without_word(draft, way)
    elif way not in shape.types and way in _WITHOUT_WORD & draft.target.client.speaks:
        # Without a word, a client that has none for it takes an entry for that.
        del draft.values[Field.TYPE]
    elif way not in shape.types:
        draft.drop(Field.TYPE, f"{draft.title} does not support {way}", WarningKind.UNUSABLE)
    elif _reads_as(draft.target, way) != _one(way):
        reason = f"written as {shape.types[way]}; {draft.title} detects the transport itself"
        draft.warn(WarningKind.APPROXIMATED, Field.TYPE, reason, value=str(way))


def _type_without_word(draft: Draft, way: EntryTransport) -> None:
    client = draft.target.client
    if draft.literal:
        draft.drop(Field.TYPE, f"not supported by {draft.title}: dropped")
    elif way not in client.speaks:
        unusable = way is EntryTransport.WS
        kind = WarningKind.UNUSABLE if unusable else WarningKind.UNSUPPORTED
        draft.drop(Field.TYPE, f"{draft.title} does not support {way}", kind)
    elif way in draft.target.shape.url_ways.values():
        return
    elif way is EntryTransport.SSE:
        reason = f"{draft.title} detects the transport itself"
        draft.drop(Field.TYPE, reason, WarningKind.APPROXIMATED)
    else:
        del draft.values[Field.TYPE]


def _reads_as(target: ClientScopeRef, way: EntryTransport) -> EntryTransport:
    """The way that is read where this one is written."""
    word = target.shape.types[way]
    return _one(next(each for each, spelling in target.shape.types.items() if spelling == word))


def _one(way: EntryTransport) -> EntryTransport:
    # A program that is to find out tries streamable HTTP first.
    return EntryTransport.HTTP if way is EntryTransport.REMOTE else way


def _times(draft: Draft) -> None:
    shape = draft.target.shape
    for name in TIMES:
        if name not in draft.values:
            continue
        unit = shape.units.get(shape.field_names[name], Unit())
        seconds = cast("float", draft.values[name])
        units = math.ceil(seconds / unit.milliseconds)
        if unit.whole and units * unit.milliseconds != seconds:
            reason = f"rounded up to a multiple of {unit.milliseconds} ms in {draft.title}"
            draft.warn(WarningKind.APPROXIMATED, name, reason)
            draft.values[name] = units * unit.milliseconds


def _enabled(draft: Draft) -> None:
    if Field.ENABLED not in draft.values or draft.holds(Field.ENABLED):
        return
    switch = draft.target.scope.switch
    elsewhere = switch.kind in {SwitchKind.LIST, SwitchKind.MAP}
    if draft.literal or draft.values[Field.ENABLED] is True or not elsewhere:
        draft.drop(Field.ENABLED, f"not supported by {draft.title}: dropped")
    elif lacks_project(draft.target):
        reason = f"{draft.title} disables servers per project, and none is given: written enabled"
        draft.drop(Field.ENABLED, reason)
    else:
        reason = f"stored in {switch_words(draft.target)}"
        draft.warn(WarningKind.RELOCATED, Field.ENABLED, reason)


def _unknown(draft: Draft, entry: Entry) -> None:
    shape = draft.source.shape
    for word, value in entry.unknown.items():
        if word in shape.others:
            reason = f"not supported by {draft.title}: dropped"
        elif word in shape.also or word in shape.field_names.values():
            # The field is known, and its program takes a value that mcpyard has no meaning for.
            reason = "this value is not supported by mcpyard: dropped"
        else:
            reason = "not supported by mcpyard: dropped"
        warning = Warned(WarningKind.UNSUPPORTED, word, shape_of_value(value), reason)
        draft.warnings.append(warning)
        draft.left[word] = value


def _what_the_matrix_says(draft: Draft, entry: Entry) -> None:
    """Tell of each field that is carried although the specification's matrix would drop it."""
    for name, value in entry.set_fields().items():
        word = draft.target.shape.field_names.get(name)
        # A field without a word follows from the rest of the entry.
        if word and spec_drops(draft.target.client, name) and not draft.has_warning(name):
            reason = f"written as {word}, which is not part of the basic field mapping"
            draft.warn(WarningKind.INFO, name, reason, value=value)


def _unusable(entry: Entry, target: ClientScopeRef, title: str) -> tuple[Warned, ...]:
    if entry.command is not None or entry.url is not None:
        return ()
    if target.client.fragile and not target.shape.stubs:
        message = f"is missing, and so is url; {title} would then load no servers at all"
        raise DefinitionError.of(Problem("command", message))
    reason = f"the copy has neither a command nor a URL; {title} cannot use it"
    return (Warned(WarningKind.UNUSABLE, "", "", reason),)


def _trust(target: ClientScopeRef) -> tuple[Warned, ...]:
    trust = target.scope.trust
    return (Warned(WarningKind.NEEDS_TRUST, "", "", trust),) if trust else ()
