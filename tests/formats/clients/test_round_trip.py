"""There and back again: what is lost is told, once, and what is told as lost is lost."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mcpyard.formats.copying.mapping import Converted, convert, restore
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.facts import EntryTransport, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.warnings import Warned, WarningKind
from tests.conftest import FULL
from tests.formats.clients.making import REFS, entries, reread

EXAMPLES = 5_000 if FULL else 250

pytestmark = pytest.mark.timeout(600 if FULL else 30)

PAIRS = st.tuples(st.sampled_from(REFS), st.sampled_from(REFS))
MATRICES = st.sampled_from(Matrix)
WHOLE = {Field.ENV_VARS, Field.ENV_HEADERS, Field.ONLY_TOOLS, Field.EXCEPT_TOOLS}


def leaves(entry: Entry) -> dict[tuple[Field, str], object]:
    """An entry taken apart as far as a warning can point; what says nothing is left out."""
    values: dict[tuple[Field, str], object] = {}
    for name, value in entry.set_fields().items():
        if name is Field.TYPE or (name is Field.ENABLED and value) or value == ("*",):
            continue
        if isinstance(value, dict) and name not in WHOLE:
            values |= {(name, f".{key}"): each for key, each in value.items()}
        elif isinstance(value, tuple) and name not in WHOLE:
            values |= {(name, f"[{index}]"): each for index, each in enumerate(value)}
        elif value not in ((), {}):
            values[name, ""] = value
    if entry.way is not None:
        values[Field.TYPE, ""] = (
            EntryTransport.HTTP if entry.way is EntryTransport.REMOTE else entry.way
        )
    return values


def word(ref: ClientScopeRef, name: Field, where: str) -> str:
    shape = ref.shape
    if shape.joined and name is Field.ARGS:
        return f"command[{int(where[1:-1]) + 1}]"
    if shape.joined and name is Field.COMMAND:
        return "command[0]"
    return shape.field_names.get(name, name.value) + where


def about(
    warnings: tuple[Warned, ...], ref: ClientScopeRef, leaf: tuple[Field, str]
) -> list[Warned]:
    name, where = leaf
    fields = {word(ref, name, where), ref.shape.field_names.get(name, name.value)}
    return [each for each in warnings if each.field in fields and each.kind is not WarningKind.INFO]


def there_and_back(
    entry: Entry, source: ClientScopeRef, target: ClientScopeRef, matrix: Matrix
) -> tuple[Converted, Converted, Entry]:
    gone = convert(entry, source, target, matrix)
    landed = reread(gone.entry, target.client, target.shape)
    landed = replace(landed, enabled=gone.entry.enabled)
    # An entry that lost both is not taken back by a client that it would break.
    assume(landed.command is not None or landed.url is not None or not source.client.fragile)
    back = convert(landed, target, source, matrix)
    returned = reread(back.entry, source.client, source.shape)
    return gone, back, returned


@settings(max_examples=EXAMPLES)
@given(PAIRS, MATRICES, st.data())
def test_every_loss_has_exactly_one_warning(
    pair: tuple[ClientScopeRef, ClientScopeRef], matrix: Matrix, data: st.DataObject
) -> None:
    source, target = pair
    entry = data.draw(entries(source))
    gone, back, returned = there_and_back(entry, source, target, matrix)
    before, after = leaves(entry), leaves(returned)
    for leaf, value in before.items():
        warnings = about(gone.warnings, source, leaf)
        assert len(warnings) <= 1, (leaf, warnings)
        if leaf[0] is Field.TYPE and (returned.way is None or after[leaf] == value):
            # The way is implied by the command or the address, and comes and goes with it.
            continue
        if leaf not in after or after[leaf] != value:
            assert warnings or about(back.warnings, target, leaf), (leaf, value, after.get(leaf))
        elif warnings:
            assert warnings[0].kind is not WarningKind.UNSUPPORTED, leaf


@settings(max_examples=EXAMPLES)
@given(PAIRS, MATRICES, st.data())
def test_what_was_left_out_is_back_after_a_restore(
    pair: tuple[ClientScopeRef, ClientScopeRef], matrix: Matrix, data: st.DataObject
) -> None:
    source, target = pair
    entry = data.draw(entries(source))
    gone, _, returned = there_and_back(entry, source, target, matrix)
    restored = leaves(restore(returned, gone.left, source))
    for leaf, value in leaves(entry).items():
        warnings = about(gone.warnings, source, leaf)
        if warnings and warnings[0].kind is WarningKind.UNSUPPORTED:
            assert restored[leaf] == value


@settings(max_examples=EXAMPLES)
@given(PAIRS, st.data())
def test_native_says_whatever_spec_says(
    pair: tuple[ClientScopeRef, ClientScopeRef], data: st.DataObject
) -> None:
    source, target = pair
    entry = data.draw(entries(source))
    native = {each.field for each in convert(entry, source, target, Matrix.NATIVE).warnings}
    for warning in convert(entry, source, target, Matrix.SPEC).warnings:
        parts = (f"{warning.field}.", f"{warning.field}[")
        covered = any(each == warning.field or each.startswith(parts) for each in native)
        # A type that the target finds out by itself is no loss.
        inferred = warning.field == source.shape.field_names.get(Field.TYPE, Field.TYPE.value)
        assert covered or inferred or warning.kind is WarningKind.UNUSABLE, warning


@settings(max_examples=EXAMPLES)
@given(PAIRS, MATRICES, st.data())
def test_what_is_written_is_read_without_a_problem(
    pair: tuple[ClientScopeRef, ClientScopeRef], matrix: Matrix, data: st.DataObject
) -> None:
    source, target = pair
    converted = convert(data.draw(entries(source)), source, target, matrix)
    understood = understand(spell(converted.entry, target.shape), target.client, target.shape)
    unusable = any(each.kind is WarningKind.UNUSABLE for each in converted.warnings)
    assert unusable or understood.problems == ()
