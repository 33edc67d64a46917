"""What is asked for of clients' files, and how."""

from dataclasses import dataclass
from typing import Final

from mcpyard.formats.copying.matrix import Matrix

LIBRARY: Final = "library"


@dataclass(frozen=True, slots=True)
class EditTerms:
    """How something is asked for.

    Attributes:
        project: The folder that it is looked at from; None for the yard's own project.
        dry_run: Only tell what would be.
        show_secrets: Mask nothing in what is told; for the user's own terminal.
        who: Who asks, for the journal.
        unverified: Whether a client that is known from documentation alone may be written.
    """

    project: str | None = None
    dry_run: bool = False
    show_secrets: bool = False
    who: str = LIBRARY
    unverified: bool = False


@dataclass(frozen=True, slots=True)
class Copy:
    """What to copy: the words of two scopes, such as `claude:project`, and a name.

    Attributes:
        source: Where it is.
        target: Where it is to be.
        name: What it is called.
        new_name: What it is to be called; None for the same.
        matrix: The table to follow.
        replace: Whether to put it in the place of one that has its name.
        move: Whether to take it away from where it is.
    """

    source: str
    target: str
    name: str
    new_name: str | None = None
    matrix: Matrix = Matrix.NATIVE
    replace: bool = False
    move: bool = False
