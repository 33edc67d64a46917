"""Loading a corpus: a folder of Markdown and JSON lines, or one such file, into the database."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from mcpyard.legal.corpus import Corpus, Identity, StoreResult
from mcpyard.legal.model import BrokenText, LegalDocument
from mcpyard.legal.notices import say_here
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.reading import jsonl, markdown
from mcpyard.legal.reading.decoding import decoded
from mcpyard.legal.reading.plain_text import to_markdown

_BATCH: Final = 32
_SUFFIXES: Final = frozenset({".md", ".markdown", ".jsonl", ".txt"})
_NO_TEXTS: Final = frozenset({"readme", "license", "changelog"})


class NothingToImport(Exception):
    """The path is not there, or there is nothing at it that could be imported."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A file, or one line of it, that was not imported, and why."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class IgnoredFile:
    """A file that was not looked at, or that holds no text, and why."""

    file: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass(slots=True)
class Report:
    """What an import did; `files` counts all that were looked at."""

    files: int = 0
    skipped: int = 0
    removed: int = 0
    changes: Counter[StoreResult] = field(default_factory=Counter[StoreResult])
    broken: list[Broken] = field(default_factory=list[Broken])
    ignored: list[IgnoredFile] = field(default_factory=list[IgnoredFile])
    notes: list[Broken] = field(default_factory=list[Broken])

    def to_dict(self) -> dict[str, object]:
        """As the command prints it."""
        broken = [
            {"file": each.file, "line": each.line, "message": each.message} for each in self.broken
        ]
        done = {change.value: self.changes[change] for change in StoreResult}
        counts = {**done, "removed": self.removed, "skipped": self.skipped}
        ignored = [{"file": each.file, "reason": each.reason} for each in self.ignored]
        notes = [
            {"file": each.file, "line": each.line, "message": each.message} for each in self.notes
        ]
        return {
            "files": self.files,
            **counts,
            "broken": broken,
            "ignored": ignored,
            "notes": notes,
        }


Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ImportFiles:
    """The files that can be imported, and the folder that their names are shown from."""

    root: Path
    files: tuple[Path, ...]
    ignored: tuple[IgnoredFile, ...] = ()


def find(path: Path) -> ImportFiles:
    """What there is to import at a path, a folder or a file.

    Raises:
        NothingToImport: There is nothing.
    """
    if path.is_file():
        return ImportFiles(path.parent, (path,))
    if not path.is_dir():
        raise NothingToImport(say_here("no_such_path", path=path))
    everything = [each for each in sorted(path.rglob("*")) if _is_file(each)]
    files = tuple(each for each in everything if not _reason(each, path))
    if not files:
        raise NothingToImport(say_here("holds_nothing", path=path))
    ignored = [
        IgnoredFile(each.relative_to(path).as_posix(), reason)
        for each in everything
        if (reason := _reason(each, path))
    ]
    return ImportFiles(path, files, tuple(ignored))


def load(
    files: ImportFiles, corpus: Corpus, progress: Progress, *, replace: bool = False
) -> Report:
    """Import files. A broken one is reported, and the rest imported.

    Each batch of documents is one transaction: an import that is stopped leaves whole batches,
    and the next one goes on from there.

    Args:
        files: The files.
        corpus: Where the texts go.
        progress: Told now and then how many files are done, and of how many.
        replace: Take out whatever was imported before and is not among them; not when one is
            broken, as its text would be lost.
    """
    loader = _Loader(files.root, Report(ignored=[*files.ignored]))
    batch: list[LegalDocument] = []
    for done, file in enumerate(files.files, 1):
        for document in loader.documents(file):
            batch.append(document)
            if len(batch) == _BATCH:
                loader.report.changes.update(corpus.add(batch))
                batch.clear()
        if done % _BATCH == 0:
            progress(done, len(files.files))
    loader.report.changes.update(corpus.add(batch))
    if len(files.files) % _BATCH:
        progress(len(files.files), len(files.files))
    if replace and not loader.report.broken:
        loader.report.removed = corpus.keep_only(loader.seen)
    return loader.report


class _Loader:
    def __init__(self, root: Path, report: Report) -> None:
        self.report = report
        self._root = root
        self._from: dict[Identity, str] = {}

    @property
    def seen(self) -> frozenset[Identity]:
        """The documents that were found."""
        return frozenset(self._from)

    def documents(self, file: Path) -> Iterator[LegalDocument]:
        """The documents of a file; what is broken goes to the report."""
        self.report.files += 1
        # The folder's own name stays in the source: laws/民法典/总则.md says more than 总则.md.
        shown_path = PurePosixPath(
            self._root.resolve().name, file.relative_to(self._root).as_posix()
        )
        empty = True
        for each in _read(file, shown_path):
            empty = False
            if isinstance(each, BrokenText):
                self._complain(shown_path, each.line, str(each))
            elif self._is_new(each, shown_path):
                self._note_gaps(each, shown_path)
                self._note_repeated(each, shown_path)
                yield each
        if empty:
            self.report.skipped += 1
            self.report.ignored.append(IgnoredFile(str(shown_path), say_here("front_matter")))

    def _is_new(self, document: LegalDocument, shown_path: PurePosixPath) -> bool:
        """Whether this import had no such document before: one would undo the other."""
        identity = (document.kind, document.title, document.part, document.version_date)
        if (first := self._from.get(identity)) is None:
            self._from[identity] = str(shown_path)
            return True
        message = say_here("same_document", first=first, title=document.title)
        self._complain(shown_path, 1, message)
        return False

    def _note_gaps(self, document: LegalDocument, shown_path: PurePosixPath) -> None:
        """Articles that are missing between others: the text may have a form that is not read."""
        numbers = [each.number.main for each in document.passages if each.number]
        for before, after in pairwise(numbers):
            if after > before + 1:
                message = say_here(
                    "gap", first=str(Number(before)), last=str(Number(after)), title=document.title
                )
                self.report.notes.append(Broken(str(shown_path), 1, message))

    def _note_repeated(self, document: LegalDocument, shown_path: PurePosixPath) -> None:
        """Numbers that two articles have: a text with two versions in one, or with a mistake."""
        counts = Counter(each.number for each in document.passages if each.number)
        for number in (each for each, count in counts.items() if count > 1):
            message = say_here("repeated", article=str(number), title=document.title)
            self.report.notes.append(Broken(str(shown_path), 1, message))

    def _complain(self, file: PurePosixPath, line: int, message: str) -> None:
        self.report.broken.append(Broken(str(file), line, message))


def _reason(file: Path, root: Path) -> str:
    """Why a file is not imported; empty for one that is."""
    if any(part.startswith(".") for part in file.relative_to(root).parts):
        return say_here("hidden_file")
    if file.suffix.lower() not in _SUFFIXES:
        return say_here("other_format", suffix=file.suffix or "-")
    return say_here("no_law_text") if file.stem.lower() in _NO_TEXTS else ""


def _is_file(path: Path) -> bool:
    """A link that leads nowhere counts, so that it is reported; a pipe would never end."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _read(file: Path, shown_path: PurePosixPath) -> Iterator[LegalDocument | BrokenText]:
    try:
        if file.suffix.lower() == ".jsonl":
            with file.open("rb") as lines:
                yield from jsonl.read(lines, shown_path)
            return
        text = decoded(file)
        if file.suffix.lower() == ".txt":
            text = to_markdown(text)
        if (document := markdown.read(text, shown_path)) is not None:
            yield document
    except BrokenText as error:
        yield error
    except OSError as error:
        yield BrokenText(error.strerror or say_here("unreadable_file"))
