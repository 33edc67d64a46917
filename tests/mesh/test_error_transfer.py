"""Every error of mcpyard passes from one node to another with all that matters about it."""

import pytest

from mcpyard.domain import errors
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.cluster import Placement
from mcpyard.domain.edges import EDGES
from mcpyard.domain.errors import (
    CallRefused,
    ChangedSince,
    Disconnected,
    InputError,
    NotHere,
    Problem,
    ServerBusy,
    ServerFault,
    SourceLocation,
    TimedOut,
    YardError,
)
from mcpyard.mesh.error_transfer import read_error, write_error
from mcpyard.wire import jsonrpc
from mcpyard.wire.jsonrpc import RpcError
from tests.mesh.nodes import ECHO

CAUSE = Cause(Code.EXITED, "exited", "look", ("boom",), untaken=True, retry_after=1.5)


def transferred(error: YardError) -> YardError:
    """An error as it comes out on the other side of a link."""
    envelope = jsonrpc.read(jsonrpc.failure(1, write_error(error)))
    return read_error(jsonrpc.read_error(envelope.error), "n2")


@pytest.mark.parametrize("kind", EDGES, ids=lambda kind: kind.__name__)
def test_each_leaf_of_the_tree_comes_out_as_itself(kind: type[YardError]) -> None:
    error = kind("something is wrong").about("echo").advising("mend it")
    if isinstance(error, ServerFault):
        error.because(CAUSE).untaken = True
    error.noting("twice", (("first", "is away"),))
    received = transferred(error)
    assert type(received) is kind
    assert received.args == error.args == ("something is wrong; twice",)
    assert vars(received) == {**{name: getattr(error, name) for name in vars(received)}}
    assert received.passed_over == (("first", "is away"),)
    assert (received.server, received.advice) == ("echo", "mend it")
    if isinstance(received, ServerFault):
        assert (received.cause, received.untaken) == (CAUSE, True)


def test_what_some_kinds_have_besides_comes_along() -> None:
    refused = transferred(CallRefused("no", -5, {"a": [1]}))
    assert isinstance(refused, CallRefused)
    assert (refused.code, refused.data) == (-5, {"a": [1]})
    late = transferred(TimedOut("late", sent=False))
    assert isinstance(late, TimedOut)
    assert not late.sent
    placement = Placement(ECHO, "n3", 7, "n1")
    moved = transferred(NotHere("elsewhere").placed(placement))
    assert isinstance(moved, NotHere)
    assert moved.placement == placement
    problem = Problem("command", "is missing", SourceLocation("a.json", 1, 2))
    wrong = transferred(InputError.of(problem))
    assert isinstance(wrong, InputError)
    assert wrong.problems == (problem,)
    changed = transferred(ChangedSince("changed", (("a", "b"),)))
    assert isinstance(changed, ChangedSince)
    assert changed.files == (("a", "b"),)


def test_a_kind_of_a_newer_version_is_the_nearest_known_one() -> None:
    error = write_error(Disconnected("away"))
    error.data = {**vars(error)["data"], "kinds": ["Vanished", "Disconnected", "ServerFault"]}
    assert type(read_error(error, "n2")) is Disconnected
    error.data = {**vars(error)["data"], "kinds": ["Vanished"], "more": 1}
    assert type(read_error(error, "n2")) is YardError


def test_errors_of_the_protocol_between_nodes_name_the_node() -> None:
    busy = read_error(RpcError(jsonrpc.INVALID_REQUEST, "too many requests"), "n2")
    assert isinstance(busy, ServerBusy)
    broken = read_error(RpcError(jsonrpc.INTERNAL_ERROR, "broken"), "n2")
    assert type(broken) is Disconnected
    assert 'node "n2"' in broken.message
    garbled = read_error(RpcError(-32050, "garbled", {"kinds": 3}), "n2")
    assert type(garbled) is errors.Disconnected
