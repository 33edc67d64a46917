"""Whole files of every client, edited: the touched entry changes, and not a byte beside it."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editing import remove, rename, write
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.naming import rule_fault
from tests.conftest import FULL
from tests.formats.clients.making import REFS, entries, reread
from tests.formats.clients.written import files, named

EXAMPLES = 5_000 if FULL else 250

pytestmark = pytest.mark.timeout(1200 if FULL else 120)

REF = st.sampled_from(REFS)


@st.composite
def cases(draw: st.DrawFn, least: int = 0) -> tuple[ClientScopeRef, str, dict[str, Entry]]:
    """A client, a file of it, and the servers in the file."""
    ref = draw(REF)
    servers = draw(named(ref).filter(lambda candidates: len(candidates) >= least))
    text = draw(files(ref, servers))
    # Without a server that shows it, a file is taken to be in the first shape.
    assume(read(ref, text).ref.shape is ref.shape)
    return ref, text, servers


def changed_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that differ, without those that both begin or end with."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


@settings(max_examples=EXAMPLES)
@given(cases(), st.data())
def test_adding_changes_one_line_at_most_and_removing_gives_back_the_bytes(
    case: tuple[ClientScopeRef, str, dict[str, Entry]], data: st.DataObject
) -> None:
    ref, text, servers = case
    entry = data.draw(entries(ref))
    added = write(ref, text, "fresh", entry).text
    assert read(ref, added).entry("fresh") == reread(entry, ref.client, ref.shape)
    for name in servers:
        assert read(ref, added).entry(name) == read(ref, text).entry(name)
    assert remove(ref, added, "fresh").text == text
    old, _ = changed_lines(text, added)
    # The line before a new member gets a comma, or an empty object is opened.
    assert len(old) <= 1


@settings(max_examples=EXAMPLES)
@given(cases(least=1), st.data())
def test_a_change_touches_no_byte_outside_of_its_entry(
    case: tuple[ClientScopeRef, str, dict[str, Entry]], data: st.DataObject
) -> None:
    ref, text, servers = case
    name = data.draw(st.sampled_from(sorted(servers)))
    entry = data.draw(entries(ref))
    changed = write(ref, text, name, entry).text
    fields = read(ref, changed).entry(name).set_fields()
    expected = entry.set_fields()
    assert {each: fields[each] for each in fields if each is not Field.TYPE} == {
        each: expected[each] for each in expected if each is not Field.TYPE
    }
    assert remove(ref, changed, name).text == remove(ref, text, name).text


@settings(max_examples=EXAMPLES)
@given(cases(least=1), st.data())
def test_an_edit_and_its_inverse_give_back_the_bytes(
    case: tuple[ClientScopeRef, str, dict[str, Entry]], data: st.DataObject
) -> None:
    ref, text, servers = case
    name = data.draw(st.sampled_from(sorted(servers)))
    # What is written anew is written plainly, however it was spelled.
    text = text.replace("\\u00e9", "é")
    renamed = rename(ref, text, name, "fresh").text
    if rule_fault(ref.client, name) is None:
        assert rename(ref, renamed, "fresh", name).text == text
    assert remove(ref, renamed, "fresh").text == remove(ref, text, name).text
    entry = read(ref, text).entry(name)
    other = replace(entry, command="other") if entry.url is None else replace(entry, url="other")
    edited = write(ref, text, name, other).text
    old, new = changed_lines(text, edited)
    assert len(old) == len(new) <= 1
    assert write(ref, edited, name, entry).text == text


@settings(max_examples=EXAMPLES)
@given(cases(least=1), cases(), st.data())
def test_a_copy_is_read_in_the_other_file_as_it_was_converted(
    source: tuple[ClientScopeRef, str, dict[str, Entry]],
    target: tuple[ClientScopeRef, str, dict[str, Entry]],
    data: st.DataObject,
) -> None:
    ref, text, servers = source
    there, other, _ = target
    name = data.draw(st.sampled_from(sorted(servers)))
    converted = convert(read(ref, text).entry(name), ref, there)
    assume(converted.entry.command is not None or converted.entry.url is not None)
    written = write(there, other, "fresh", converted.entry).text
    assert read(there, written).entry("fresh") == reread(converted.entry, there.client, there.shape)
    assert remove(there, written, "fresh").text == other
