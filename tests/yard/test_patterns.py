import pytest

from mcpyard.yard.name_patterns import LONGEST, fits


@pytest.mark.parametrize(
    ("name", "pattern", "expected"),
    [
        ("files", "f*", True),
        ("files", "F*", False),
        ("a" * LONGEST + "b", "a" * LONGEST + "b", True),
        ("a", "*" * LONGEST, True),
        ("a", "*" * (LONGEST + 1), False),
    ],
)
def test_a_pattern_fits_as_a_shell_has_it_and_a_huge_one_only_itself(
    name: str, pattern: str, *, expected: bool
) -> None:
    assert fits(name, pattern) == expected
