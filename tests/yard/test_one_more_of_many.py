"""One more server: what it costs does not depend on how many there are."""

from collections.abc import Callable
from uuid import UUID, uuid5

import pytest

from mcpyard.domain.definition.approval import ApprovedEntry, admit, seen
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import Definition, Desired, DesireInputs, Document, Owner
from mcpyard.domain.desired_changes import changes
from mcpyard.domain.desiring import desire
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.domain.stored import StoredDefinition
from mcpyard.sources.database import read_stored
from mcpyard.yard.server_registry import RegistryBook
from tests.steps import steps

FEW, MANY = 20, 220
OWNER = Owner(Scope.PROJECT, "p/.mcp.json")
SPACE, SELF = UUID(int=1), SelfIdentity()


def definitions(count: int) -> tuple[Definition, ...]:
    return tuple(Definition(f"s{i}", LocalConfig(command=["run", str(i)])) for i in range(count))


def desired_of(entries: tuple[Definition, ...], before: Desired | None = None) -> Desired:
    ids = {(OWNER, each.name): uuid5(SPACE, each.name) for each in entries}
    inputs = DesireInputs(ids, lambda _: None, identity=SELF)
    return desire([Document(OWNER, entries)], inputs, before or Desired({}))


def registering(count: int) -> int:
    entries = definitions(count + 1)
    # What was desired twice is what the next look need not look at.
    book, before = RegistryBook(), desired_of(entries[:-1], desired_of(entries[:-1]))
    book.hold(before.servers.values())
    ids = {(OWNER, each.name): uuid5(SPACE, each.name) for each in entries}
    document, inputs = Document(OWNER, entries), DesireInputs(ids, lambda _: None, identity=SELF)

    def work() -> None:
        after = desire([document], inputs, before)
        assert [each.name for each in changes(before, after).changed] == [entries[-1].name]
        book.hold(after.servers.values())

    return steps(work)


def approving(count: int) -> int:
    entries = definitions(count + 1)
    approved = {each.name: ApprovedEntry(each.config) for each in entries}
    document = Document(OWNER, entries)

    def work() -> None:
        assert seen(document, approved) is approved
        assert admit([document], {OWNER: approved}).documents == (document,)

    return steps(work)


def storing(count: int) -> int:
    stored = tuple(
        StoredDefinition(uuid5(SPACE, str(i)), f"s{i}", {"command": "run"}, str(i))
        for i in range(count + 1)
    )
    before = stored[:-1], read_stored(stored[:-1])

    def work() -> None:
        assert len(read_stored(stored, before).definitions) == count + 1

    return steps(work)


@pytest.mark.parametrize(("work", "lines"), [(registering, 3), (approving, 12), (storing, 1)])
def test_each_server_that_stays_costs_a_few_lines(work: Callable[[int], int], lines: int) -> None:
    assert work(MANY) - work(FEW) < (MANY - FEW) * lines


def test_an_approved_entry_is_the_object_that_is_written() -> None:
    stored = ApprovedEntry(LocalConfig(command=["run"]))
    written = Definition("a", LocalConfig(command=["run"]))
    after = seen(Document(OWNER, (written,)), {"a": stored})
    assert after == {"a": stored}
    assert after["a"].config is written.config
    assert seen(Document(OWNER, (written,)), after) is after
