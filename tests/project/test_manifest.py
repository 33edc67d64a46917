"""No scenario of the specification is forgotten, and no covered one loses its test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.spec import COVERED, NOT_YET_BUILT

TESTS = Path(__file__).parents[1]
SPECIFICATION = TESTS.parents[1] / "shared" / "SPEC.md"


def marked_ids() -> Iterator[str]:
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from (number for each in node.decorator_list for number in spec_ids(each))


def spec_ids(decorator: ast.expr) -> Iterator[str]:
    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.spec":
        yield from (str(ast.literal_eval(argument)) for argument in decorator.args)


def test_every_covered_scenario_has_a_test_and_no_other_has_one() -> None:
    assert set(marked_ids()) == set(COVERED)


def test_a_scenario_is_covered_or_not_yet_built_but_not_both() -> None:
    both = [*COVERED, *NOT_YET_BUILT]
    assert len(both) == len(set(both))


@pytest.mark.skipif(
    not SPECIFICATION.exists(), reason="the specification is not beside the project"
)
def test_the_manifest_lists_exactly_the_scenarios_of_the_specification() -> None:
    text = SPECIFICATION.read_text().split("\n## A.", 1)[1]
    ids = set(re.findall(r"\b([A-F]\d\.\d)\b", text))
    whole = {each for each in re.findall(r"\b([A-E]\d)\b(?!\.)", text) if each[0] == "B"} | {"C8"}
    assert set(COVERED) | set(NOT_YET_BUILT) == ids | whole
