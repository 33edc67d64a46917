"""How clients write references to environment variables, as data."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ReferenceSyntax:
    """How a client writes a reference to an environment variable.

    Attributes:
        pattern: A regular expression for all that the client replaces. The groups `name` and
            `default` are ours to translate, a match without a name has no counterpart elsewhere,
            and the group `literal` is what an escape stands for.
        reference: A reference as it is written, with `{}` for the name; empty where there is none.
        with_default: A reference with a default, likewise with the default as the second `{}`.
        escapes: What a literal text needs to stay literal.
    """

    pattern: str = ""
    reference: str = ""
    with_default: str = ""
    escapes: tuple[tuple[str, str], ...] = ()


VARIABLE: Final = "[A-Za-z_][A-Za-z0-9_]*"
"""A regular expression for the name of a variable."""

_NAME: Final = rf"(?P<name>{VARIABLE})"
_DEFAULT: Final = r"(?::-(?P<default>[^}]*))?"

LITERAL: Final = ReferenceSyntax()
BRACES: Final = ReferenceSyntax(rf"\$\{{{_NAME}{_DEFAULT}\}}", "${{{}}}", "${{{}:-{}}}")
BRACES_OR_BARE: Final = ReferenceSyntax(
    rf"{BRACES.pattern}|\$(?P<bare>{VARIABLE})", BRACES.reference, BRACES.with_default
)
ENV_BRACES: Final = ReferenceSyntax(rf"\$\{{(?:env:{_NAME}|[^}}]*)\}}", "${{env:{}}}")
