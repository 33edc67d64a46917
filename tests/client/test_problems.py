"""Errors that cross to another process, and come back."""

import json

import pytest

from mcpyard.api.problems import problem_of
from mcpyard.client.problems import error_of
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.edges import EDGES
from mcpyard.domain.errors import ChangedSince, DefinitionError, Problem, StartFailed, YardError

CAUSE = Cause(next(iter(Code)), "it ended", "start it", ("last line",))


def sent_and_read(error: YardError) -> YardError:
    document = problem_of(error).to_dict()
    return error_of(500, json.dumps(document).encode())


@pytest.mark.parametrize("kind", EDGES)
def test_every_error_comes_back_as_its_kind_with_its_document(kind: type[YardError]) -> None:
    error = sent_and_read(kind("a reason"))
    assert (type(error), error.message) == (kind, "a reason")
    assert error.document == json.loads(json.dumps(problem_of(kind("a reason")).to_dict()))


def test_what_an_error_knows_comes_back_with_it() -> None:
    refused = sent_and_read(DefinitionError("a: b", (Problem("a", "b"),)))
    assert isinstance(refused, DefinitionError)
    assert refused.problems == (Problem("a", "b"),)
    changed = sent_and_read(ChangedSince("changed", (("/f", "-a\n+b"),)))
    assert isinstance(changed, ChangedSince)
    assert changed.files == (("/f", "-a\n+b"),)
    failed = sent_and_read(StartFailed("down").because(CAUSE).noting("", (("fs", "it is away"),)))
    assert isinstance(failed, StartFailed)
    assert (failed.cause, failed.passed_over) == (CAUSE, (("fs", "it is away"),))


def test_details_that_only_a_newer_yard_knows_do_not_hide_the_error() -> None:
    document = problem_of(StartFailed("down").because(CAUSE)).to_dict()
    document["cause"] = {"code": "unheard-of"}
    error = error_of(502, json.dumps(document).encode())
    assert isinstance(error, StartFailed)
    assert (error.cause, error.document) == (None, document)


@pytest.mark.parametrize("content", [b"", b"<html>", b"[]", b'"text"'])
def test_an_answer_that_is_no_document_is_told_by_its_status(content: bytes) -> None:
    error = error_of(503, content)
    assert (type(error), error.message) == (YardError, "mcpyard answered with HTTP 503")
