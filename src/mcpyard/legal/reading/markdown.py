"""Statutes and cases as Markdown.

A title, the days on which the text was passed and amended, a line `<!-- INFO END -->`, headings for
parts, chapters and sections, and articles as paragraphs that begin with their number. A date in
the file's name is the date of the version. Front matter may say `kind`, `title`, `part`,
`version_date` and `source`.
"""

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from mcpyard.legal.model import BrokenText, DocumentKind, LegalDocument, Passage
from mcpyard.legal.notices import say_here
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.reading.dates import stated_days
from mcpyard.legal.reading.numbering import ArticleNumbering, is_annex
from mcpyard.legal.times import from_info, without_first_day

_HEADING: Final = re.compile(r"(#{1,6})(?:\s+(.*))?")
_UNSEEN: Final = re.compile("<!--.*?-->|[\u200b\ufeff]")
_INFO_END: Final = "INFO END"
WHOLE: Final = "正文"
_DAY: Final = re.compile(r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日|(\d{4})-(\d{2})-(\d{2})")
_DATED_NAME: Final = re.compile(r"^(.*?)\s*[(\uff08](\d{4}-\d{2}-\d{2})[)\uff09]$")
_CASE_FOLDERS: Final = frozenset({"案例", "cases", "case"})
_CASE_HEADINGS: Final = re.compile(
    r"(基本|简要)?案情|裁判(要点|要旨|结果|理由)|Facts|Holding|Judgment", re.IGNORECASE
)
_IN_FORCE_ALONE: Final = re.compile(
    r"(?:in force|effective)\D{0,20}\d{4}-\d{2}-\d{2}"
    r"|\d{4}-\d{2}-\d{2}\s*(?:起?施行|生效|in force)",
    re.IGNORECASE,
)


def read(text: str, path: PurePosixPath) -> LegalDocument | None:
    """The document of a file; None for a page that holds nothing but front matter.

    Args:
        text: The content of the file.
        path: Where it lies in the corpus; says what the text itself does not.

    Raises:
        BrokenText: It is neither a statute nor a case.
    """
    facts, first = _front_matter(text)
    stated_version, stated_from, stated_until = stated_days(facts)
    lines = text.splitlines()[first:]
    if first and not any(line.strip() for line in lines):
        return None
    sheet = _Sheet.read(lines, first)
    title = facts.get("title") or (sheet.titles[0] if sheet.titles else "")
    if not title:
        raise BrokenText(say_here("no_title"), first + 1)
    name, named_date = _name_and_date(path.stem)
    if _kind(facts, path, sheet) is DocumentKind.CASE:
        return _case(sheet, facts, title, name, path)
    version = stated_version or named_date or _newest_day(sheet.info)
    begin = from_info(sheet.info)
    return LegalDocument(
        DocumentKind.STATUTE,
        title,
        facts.get("source") or str(path),
        _articles(sheet),
        part=facts.get("part") or "".join(sheet.titles[1:2]),
        version_date=version,
        # The day on which an older version came into force is not this one's.
        in_force_from=stated_from or (begin if begin >= version else ""),
        in_force_until=stated_until,
    )


@dataclass(slots=True)
class _Sheet:
    """The lines of a file, sorted by what they are. `body` has (line number, text) pairs."""

    titles: list[str] = field(default_factory=list[str])
    info: list[str] = field(default_factory=list[str])
    body: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @classmethod
    def read(cls, lines: list[str], first: int) -> "_Sheet":
        sheet = cls()
        has_info = any(_INFO_END in line for line in lines)
        for number, line in enumerate(lines, first + 1):
            has_info = has_info and _INFO_END not in line
            sheet._take(number, _UNSEEN.sub("", line).strip(), in_info=has_info)
        return sheet

    def _take(self, number: int, line: str, *, in_info: bool) -> None:
        if line.startswith("# "):
            self.titles.append(_spaced(line[2:]))
        elif in_info and line:
            self.info.append(line)
        elif line:
            self.body.append((number, line))

    @property
    def headings(self) -> list[str]:
        return [match[2] or "" for _, line in self.body if (match := _HEADING.fullmatch(line))]


def _front_matter(text: str) -> tuple[dict[str, str], int]:
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        return {}, 0
    for end, line in enumerate(lines[1:], 1):
        if line.strip() == "---":
            pairs = (each.split(":", 1) for each in lines[1:end] if ":" in each)
            return {key.strip(): text.strip().strip("\"'") for key, text in pairs}, end + 1
    raise BrokenText(say_here("open_front_matter"))


def _kind(facts: dict[str, str], path: PurePosixPath, sheet: _Sheet) -> DocumentKind:
    if kind := facts.get("kind"):
        kinds = (DocumentKind.STATUTE, DocumentKind.CASE)
        if kind not in kinds:
            raise BrokenText(say_here("wrong_kind", kind=kind, kinds=", ".join(kinds)))
        return DocumentKind(kind)
    if not _CASE_FOLDERS.isdisjoint(part.lower() for part in path.parent.parts):
        return DocumentKind.CASE
    return (
        DocumentKind.CASE
        if any(map(_CASE_HEADINGS.fullmatch, sheet.headings))
        else DocumentKind.STATUTE
    )


def _case(
    sheet: _Sheet, facts: dict[str, str], title: str, name: str, path: PurePosixPath
) -> LegalDocument:
    # Some files have a maxim as their title, and the name of the case beneath it.
    headline = title if name in sheet.headings else ""
    writer = _Writer()
    for _, line in sheet.body:
        if heading := _HEADING.fullmatch(line):
            writer.begin(heading[2] or "")
        else:
            writer.add(line)
    passages = writer.done()
    if not passages:
        raise BrokenText(say_here("empty_case"))
    return LegalDocument(
        DocumentKind.CASE,
        name if headline else title,
        facts.get("source") or str(path),
        passages,
        headline=headline,
        version_date=facts.get("version_date") or _newest_day(sheet.info),
    )


def _articles(sheet: _Sheet) -> tuple[Passage, ...]:
    writer = _Writer()
    reader = ArticleNumbering([line for _, line in sheet.body])
    path: dict[int, str] = {}
    for _, line in sheet.body:
        heading = _HEADING.fullmatch(line)
        if (article := reader.article((heading[2] or "") if heading else line)) is not None:
            writer.begin(article.label, article.number)
            writer.add(article.rest)
        elif heading:
            level, name = len(heading[1]), _spaced(heading[2] or "")
            path = {each: path[each] for each in path if each < level} | {level: name}
            writer.headings = tuple(each for each in path.values() if each)
            writer.begin(name)
        elif is_annex(line):
            writer.begin(_spaced(line), is_annex=True)
        elif line not in sheet.titles:
            writer.add(line)
    passages = writer.done()
    if not passages or (not _newest_day(sheet.info) and not any(each.number for each in passages)):
        line = sheet.body[0][0] if sheet.body else 1
        raise BrokenText(say_here("no_numbered_article"), line)
    return passages


class _Writer:
    """Collects paragraphs into passages."""

    def __init__(self) -> None:
        self.headings: tuple[str, ...] = ()
        self._passages: list[Passage] = []
        self._label = WHOLE
        self._number: Number | None = None
        self._where: tuple[str, ...] = ()
        self._paragraphs: list[str] = []
        self._is_annex = False

    def begin(self, label: str, number: Number | None = None, *, is_annex: bool = False) -> None:
        """End the passage before, and begin one; an annex without a text is its name."""
        self._end()
        self._is_annex = is_annex
        self._label, self._number, self._where = label or WHOLE, number, self.headings

    def add(self, paragraph: str) -> None:
        if paragraph:
            self._paragraphs.append(paragraph)

    def done(self) -> tuple[Passage, ...]:
        self._end()
        return tuple(self._passages)

    def _end(self) -> None:
        if self._is_annex and not self._paragraphs:
            self._paragraphs.append(self._label)
        if self._paragraphs:
            text = "\n\n".join(self._paragraphs)
            self._passages.append(Passage(self._label, text, self._number, self._where))
        self._paragraphs = []


def _name_and_date(stem: str) -> tuple[str, str]:
    match = _DATED_NAME.fullmatch(stem)
    return (match[1], match[2]) if match else (stem, "")


def _newest_day(info: list[str]) -> str:
    """The last day on which the text was passed or amended, not the one it came into force."""
    passed = [_IN_FORCE_ALONE.sub("", without_first_day(line)) for line in info]
    days = _days(passed) or _days(info)
    return max(days, default="")


def _days(lines: list[str]) -> list[str]:
    return [_day(match) for line in lines for match in _DAY.finditer(line)]


def _day(match: re.Match[str]) -> str:
    year, month, day = (int(each) for each in match.groups() if each is not None)
    return f"{year:04}-{month:02}-{day:02}"


def _spaced(text: str) -> str:
    """With runs of spaces, which the texts use for layout, made one."""
    return " ".join(text.split())
