"""What a corpus consists of, before it is stored."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mcpyard.legal.query.numerals import Number

SAMPLE_SOURCE: Final = "mcpyard sample corpus (invented, not law)"


class DocumentKind(StrEnum):
    """What a document is."""

    STATUTE = "statute"
    CASE = "case"
    TEMPLATE = "template"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that can be found and cited: an article, or a section of a case.

    Attributes:
        label: How it is cited: 第九百九十条, Article 3, 序言, 基本案情.
        text: Its words, paragraphs separated by an empty line.
        number: Its article number; None where it has none.
        headings: The parts, chapters and sections that it stands in.
    """

    label: str
    text: str
    number: Number | None = None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LegalDocument:
    """A statute (or one part of a code), a case, or a template, in one version.

    Attributes:
        title: The full title of the law, the name of the case, or the name of the template.
        source: Where the text came from, as it is shown to the reader.
        part: The part of a code that is kept in several files: 人格权编.
        headline: What a case is about, or the title of a template.
        version_date: The day of this version, as YYYY-MM-DD; empty when unknown.
        passages: What it consists of; a template has its text as the only one.
        in_force_from: The first day in force that the file itself says; empty when it says none.
        in_force_until: The first day without it that the file itself says.
    """

    kind: DocumentKind
    title: str
    source: str
    passages: tuple[Passage, ...]
    part: str = ""
    headline: str = ""
    version_date: str = ""
    in_force_from: str = ""
    in_force_until: str = ""


class BrokenText(Exception):
    """A file or a line of it that can't be imported.

    Attributes:
        line: Where, counted from 1.
    """

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line
