"""How the facts about a client were found out, which decides whether its files may be written.

Facts that nobody saw a program confirm may be wrong, and an entry in the wrong place is lost or
keeps the program from starting.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Evidence(StrEnum):
    """What a fact was taken from."""

    RAN = "ran"
    SOURCE = "source"
    FILES = "files"
    DOCUMENTATION = "documentation"


@dataclass(frozen=True, slots=True)
class Provenance:
    """What the facts of a client or a scope were taken from, and the version it was.

    Attributes:
        evidence: The program itself, its source code, files that people have, or texts about it.
        version: The version of the program that was run or read.
    """

    evidence: Evidence = Evidence.DOCUMENTATION
    version: str = ""

    @property
    def verified(self) -> bool:
        """Whether more than a text about the program says so."""
        return self.evidence is not Evidence.DOCUMENTATION

    def __str__(self) -> str:
        texts = {
            Evidence.RAN: f"verified with {self.version}",
            Evidence.SOURCE: f"verified with {self.version} (source code)",
            Evidence.FILES: "verified with files of users",
            Evidence.DOCUMENTATION: "from documentation",
        }
        return texts[self.evidence]


DOCUMENTED: Final = Provenance()
SEEN_IN_FILES: Final = Provenance(Evidence.FILES)


def ran(version: str) -> Provenance:
    """Facts that the program itself confirmed."""
    return Provenance(Evidence.RAN, version)


def read_in(version: str) -> Provenance:
    """Facts from the source code of the program."""
    return Provenance(Evidence.SOURCE, version)
