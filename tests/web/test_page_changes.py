"""What a browser has not seen yet, and how much of it comes at a time."""

from uuid import UUID

from mcpyard.web.change_tracker import PageChanges

IDS = frozenset(UUID(int=number) for number in range(60))


def test_few_changes_come_at_once() -> None:
    changes = PageChanges("tag", servers=IDS, gone=IDS)
    assert [*changes.parts(60)] == [changes]
    everything = PageChanges("tag", everything=True)
    assert [*everything.parts(0)] == [everything]


def test_many_changes_come_in_parts_that_hold_each_of_them_once() -> None:
    changes = PageChanges("tag", came=IDS, servers=IDS, metrics=IDS, gone=IDS, problems=True)
    parts = [*changes.parts(25)]
    for name in ("came", "servers", "metrics"):
        sets = [getattr(each, name) for each in parts]
        assert max(map(len, sets)) == 25
        assert sum(map(len, sets)) == 60
        assert frozenset().union(*sets) == IDS
    assert [each.gone for each in parts if each.gone] == [IDS]
    assert sum(each.problems for each in parts) == 1
    assert {each.tag for each in parts} == {"tag"}
