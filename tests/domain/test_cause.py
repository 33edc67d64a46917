"""A cause never leaves its reader without what to do."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

import mcpyard
from mcpyard.domain.cause import HINTS, Cause, Code

PAGE = Path(mcpyard.__file__).parent / "web" / "catalogues" / "en.json"


@pytest.mark.parametrize("code", Code)
def test_a_cause_without_a_hint_says_what_its_code_asks_for(code: Code) -> None:
    assert Cause(code, "so it is").hint == HINTS[code]
    assert HINTS[code]


@pytest.mark.parametrize("code", Code)
def test_a_cause_that_knows_better_says_that(code: Code) -> None:
    own = Cause(code, "so it is", "Do this.")
    assert own.hint == "Do this."
    assert replace(own, message="else").hint == "Do this."


@pytest.mark.parametrize("code", sorted({*Code} - {Code.NEEDS_AUTH, Code.NEEDS_APPROVAL}))
def test_the_page_and_the_commands_ask_for_the_same(code: Code) -> None:
    assert json.loads(PAGE.read_text())[f"todo.{code}"] == HINTS[code]
