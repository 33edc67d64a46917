import errno
from collections.abc import Iterator

import pytest

from mcpyard.domain import errors
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.edges import EDGES, edge
from mcpyard.domain.errors import Problem, SourceLocation, YardError
from mcpyard.domain.remedies import REMEDIES, remedy
from mcpyard.domain.write_errors import unwritten


def leaves(kind: type[YardError]) -> Iterator[type[YardError]]:
    below = [each for each in kind.__subclasses__() if each.__module__ == errors.__name__]
    if not below:
        yield kind
    for each in below:
        yield from leaves(each)


def test_every_leaf_of_the_tree_has_an_edge() -> None:
    assert set(EDGES) == {*leaves(YardError), errors.StorageFull}


def test_every_leaf_of_the_tree_says_what_to_do() -> None:
    assert set(REMEDIES) == set(EDGES)
    assert all(REMEDIES.values())


def test_an_error_without_a_remedy_takes_its_ancestors_or_has_none() -> None:
    class Descendant(errors.NameTaken):
        pass

    assert remedy(Descendant("x")) == REMEDIES[errors.NameTaken]
    assert not remedy(YardError("x"))


def test_every_error_is_drawn_in_the_tree_on_top_of_the_file() -> None:
    drawn = errors.__doc__ or ""
    defined = {name for name, thing in vars(errors).items() if _is_error(thing)}
    assert {name for name in defined if f" {name}" not in drawn} == set()


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, YardError)


def test_problem_types_are_unique() -> None:
    slugs = [each.problem for each in EDGES.values()]
    assert len(slugs) == len(set(slugs))


@pytest.mark.parametrize(
    ("kind", "status", "exit_code"),
    [
        (errors.NameTaken, 409, 2),
        (errors.Disabled, 409, 4),
        (errors.DefinitionError, 422, 3),
        (errors.TimedOut, 504, 6),
        (errors.Disconnected, 502, 4),
        (errors.StorageFull, 507, 1),
        (errors.NotWritable, 507, 1),
    ],
)
def test_an_error_has_its_names_outside(kind: type[YardError], status: int, exit_code: int) -> None:
    names = edge(kind("x"))
    assert (names.status, names.exit_code) == (status, exit_code)


def test_an_error_without_an_edge_takes_its_ancestors_or_is_internal() -> None:
    class Descendant(errors.NameTaken):
        pass

    assert edge(Descendant("x")) == EDGES[errors.NameTaken]
    assert edge(YardError("x")).status == 500


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, errors.StorageFull),
        (errno.EDQUOT, errors.StorageFull),
        (errno.EACCES, errors.NotWritable),
        (errno.EROFS, errors.NotWritable),
        (errno.ENOTDIR, errors.NotWritable),
    ],
)
def test_a_write_that_is_refused_is_no_full_disk_unless_room_is_missing(
    number: int, kind: type[YardError]
) -> None:
    error = unwritten("no", OSError(number, "no"))
    assert type(error) is kind
    assert isinstance(error, errors.StorageFull), "whoever goes on without room goes on here too"


def test_a_problem_reads_as_place_field_and_sentence() -> None:
    place = SourceLocation("a/.mcp.json", 3, 7)
    assert str(Problem("args", "is missing", place)) == "a/.mcp.json:3:7: args: is missing"
    assert str(Problem("", "the file is empty")) == "the file is empty"
    error = errors.DefinitionError.of(Problem("a", "b"), Problem("c", "d"))
    assert str(error) == "a: b; c: d"
    assert error.problems == (Problem("a", "b"), Problem("c", "d"))


def test_a_server_fault_carries_its_cause_and_a_refusal_its_code() -> None:
    cause = Cause(Code.EXITED, "exited")
    assert errors.Disconnected("x").cause is None
    assert errors.Disconnected("x").because(cause).cause == cause
    refusal = errors.CallRefused("no", -32602, {"a": 1})
    assert (refusal.code, refusal.data) == (-32602, {"a": 1})
