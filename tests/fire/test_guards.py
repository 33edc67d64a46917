"""The guards that `scripts/prove guards` takes out one by one are where it looks for them."""

import pytest

from bench.fire.guards import GUARDS, Guard
from bench.measuring import ROOT


@pytest.mark.parametrize("guard", GUARDS.values(), ids=GUARDS)
def test_a_guard_stands_once_in_its_file_and_its_tests_exist(guard: Guard) -> None:
    text = (ROOT / "src" / "mcpyard" / guard.file).read_text()
    assert text.count(guard.stands) == 1
    assert all((ROOT / each).exists() for each in guard.tests)
