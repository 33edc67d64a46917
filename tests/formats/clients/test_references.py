import pytest

from mcpyard.formats.copying.references import (
    ClientReference,
    Foreign,
    Translation,
    parts,
    reference,
    translate,
    whole_reference,
)
from mcpyard.formats.reference_syntax import BRACES, ENV_BRACES, LITERAL, ReferenceSyntax
from mcpyard.formats.registry import client_of

GEMINI = client_of("gemini").dialect
OPENCODE = client_of("opencode").dialect
YARD = client_of("yard").dialect


@pytest.mark.parametrize(
    ("text", "dialect", "expected"),
    [
        ("", BRACES, ()),
        ("", LITERAL, ()),
        ("${V}", LITERAL, ("${V}",)),
        ("a${V}b", BRACES, ("a", ClientReference("V"), "b")),
        ("${V:-d}", BRACES, (ClientReference("V", "d"),)),
        ("${V:-}", BRACES, (ClientReference("V", ""),)),
        ("$V", BRACES, ("$V",)),
        ("$V-${W}", GEMINI, (ClientReference("V"), "-", ClientReference("W"))),
        ("{env:V}${V}", OPENCODE, (ClientReference("V"), "${V}")),
        ("{file:a.txt}", OPENCODE, (Foreign("{file:a.txt}"),)),
        ("${env:V}", ENV_BRACES, (ClientReference("V"),)),
        ("${userHome}", ENV_BRACES, (Foreign("${userHome}"),)),
        ("$${V}", YARD, ("${", "V}")),
        ("${V}${W", BRACES, (ClientReference("V"), "${W")),
        ("{env:V}{env:W", OPENCODE, (ClientReference("V"), "{env:W")),
        ("${V:-$W", GEMINI, ("${V:-", ClientReference("W"))),
        ("}$${V", YARD, ("}", "${", "V")),
        ("${keyring:V}", YARD, (Foreign("${keyring:V}"),)),
    ],
)
def test_a_text_is_taken_apart_as_its_program_does(
    text: str, dialect: ReferenceSyntax, expected: tuple[object, ...]
) -> None:
    assert parts(text, dialect) == expected


@pytest.mark.parametrize(
    ("text", "source", "target", "expected"),
    [
        ("Bearer ${V}", BRACES, OPENCODE, "Bearer {env:V}"),
        ("Bearer {env:V}", OPENCODE, BRACES, "Bearer ${V}"),
        ("$V", GEMINI, BRACES, "${V}"),
        ("$V", GEMINI, ENV_BRACES, "${env:V}"),
        ("${env:V}", ENV_BRACES, GEMINI, "${V}"),
        ("${V:-d}", BRACES, GEMINI, "${V:-d}"),
        ("${V}", LITERAL, YARD, "$${V}"),
        ("$${V}", YARD, LITERAL, "${V}"),
        ("${V}", OPENCODE, OPENCODE, "${V}"),
    ],
)
def test_a_reference_is_written_in_the_other_dialect(
    text: str, source: ReferenceSyntax, target: ReferenceSyntax, expected: str
) -> None:
    assert translate(text, source, target) == Translation(expected)


DEFAULT_LOST = "does not support defaults: the default of ${V} is dropped"
LITERALLY = "does not expand ${V}: the server will get that text literally"


@pytest.mark.parametrize(
    ("text", "source", "target", "expected", "loss"),
    [
        ("${V:-d}", BRACES, OPENCODE, "{env:V}", DEFAULT_LOST),
        ("${V}", BRACES, LITERAL, "${V}", LITERALLY),
        ("${V:-d}", BRACES, LITERAL, "${V:-d}", LITERALLY),
        ("{env:V}", OPENCODE, LITERAL, "${V}", LITERALLY),
        (
            "{file:a}",
            OPENCODE,
            BRACES,
            "{file:a}",
            "does not support a reference in this text: kept as is",
        ),
        ("${V}", LITERAL, BRACES, "${V}", "expands part of this text as a reference"),
        ("$V", BRACES, GEMINI, "$V", "expands part of this text as a reference"),
        ("${V}", OPENCODE, BRACES, "${V}", "expands part of this text as a reference"),
    ],
)
def test_what_the_other_dialect_cannot_say_is_told(
    text: str, source: ReferenceSyntax, target: ReferenceSyntax, expected: str, loss: str
) -> None:
    assert translate(text, source, target) == Translation(expected, loss)


def test_only_a_reference_that_stands_alone_and_has_no_default_is_whole() -> None:
    assert whole_reference("${V}", BRACES) == "V"
    assert whole_reference("${V:-d}", BRACES) is None
    assert whole_reference("a${V}", BRACES) is None
    assert whole_reference("V", BRACES) is None


def test_a_reference_is_made_in_each_dialect_that_has_them() -> None:
    assert reference("V", OPENCODE) == "{env:V}"
    assert reference("V", ENV_BRACES) == "${env:V}"
