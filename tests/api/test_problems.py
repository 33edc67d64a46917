"""Every problem that the API can answer with says what to do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import mcpyard
from mcpyard.api.openapi.document import document
from mcpyard.api.problems import REFUSALS, problem_of, refusal
from mcpyard.domain.cause import HINTS, Cause, Code
from mcpyard.domain.edges import EDGES
from mcpyard.domain.errors import NeedsAuth, StartFailed, YardError

KINDS = {each.problem: kind for kind, each in EDGES.items()}


def documented() -> list[str]:
    answers = cast("Any", document())["components"]["responses"].values()
    types = (each["description"].rpartition("Types: ")[2] for each in answers)
    return [slug for each in types for slug in re.findall(r"`([a-z-]+)`", each)]


@pytest.mark.parametrize("slug", documented())
def test_a_problem_of_the_document_says_what_to_do(slug: str) -> None:
    problem = refusal(slug, "so it is") if slug in REFUSALS else problem_of(KINDS[slug]("so it is"))
    assert problem.type == f"urn:mcpyard:error:{slug}"
    assert problem.hint


def refused_with() -> Iterator[str]:
    """What the code refuses with, and the table that it takes some of it from."""
    for path in (Path(mcpyard.__file__).parent / "api").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "refusal":
                (slug, *_) = node.args
                yield str(slug.value) if isinstance(slug, ast.Constant) else ""


def test_the_document_knows_everything_that_the_face_refuses_with() -> None:
    used = {*refused_with()} - {""}
    assert used <= REFUSALS.keys()
    assert REFUSALS.keys() - used == {"no-route", "wrong-method", "wrong-media-type"}
    assert REFUSALS.keys() <= {*documented()}


@pytest.mark.parametrize("code", Code)
def test_a_fault_gives_the_advice_of_its_cause(code: Code) -> None:
    problem = problem_of(StartFailed("it failed").because(Cause(code, "so it is")))
    assert problem.hint == HINTS[code]


def test_an_errors_own_advice_goes_before_that_of_its_cause_and_of_its_kind() -> None:
    error: YardError = NeedsAuth("no page").because(Cause(Code.NEEDS_AUTH, "401", "Sign in."))
    assert problem_of(error).hint == "Sign in."
    assert problem_of(error.advising("Look there.")).hint == "Look there."
