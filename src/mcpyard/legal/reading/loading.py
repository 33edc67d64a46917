"""Loading a corpus: a folder of Markdown and JSON lines, or one such file, into the database."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from mcpyard.legal.corpus import Corpus, Identity, StoreResult
from mcpyard.legal.model import BrokenText, LegalDocument
from mcpyard.legal.reading import jsonl, markdown

LARGEST_TEXT: Final = 16 * 1024 * 1024
_BATCH: Final = 32
_SUFFIXES: Final = frozenset({".md", ".markdown", ".jsonl"})
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


@dataclass(slots=True)
class Report:
    """What an import did; `files` counts all that were looked at."""

    files: int = 0
    skipped: int = 0
    removed: int = 0
    changes: Counter[StoreResult] = field(default_factory=Counter[StoreResult])
    broken: list[Broken] = field(default_factory=list[Broken])

    def to_dict(self) -> dict[str, object]:
        """As the command prints it."""
        broken = [
            {"file": each.file, "line": each.line, "message": each.message} for each in self.broken
        ]
        done = {change.value: self.changes[change] for change in StoreResult}
        counts = {**done, "removed": self.removed, "skipped": self.skipped}
        return {"files": self.files, **counts, "broken": broken}


Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ImportFiles:
    """The files that can be imported, and the folder that their names are shown from."""

    root: Path
    files: tuple[Path, ...]


def find(path: Path) -> ImportFiles:
    """What there is to import at a path, a folder or a file.

    Raises:
        NothingToImport: There is nothing.
    """
    if path.is_file():
        return ImportFiles(path.parent, (path,))
    if not path.is_dir():
        raise NothingToImport(f"{path}: there is no such file or folder")
    texts = (each for each in sorted(path.rglob("*")) if each.suffix.lower() in _SUFFIXES)
    files = tuple(each for each in texts if each.stem.lower() not in _NO_TEXTS and _is_file(each))
    if not files:
        raise NothingToImport(f"{path}: holds no Markdown (.md) and no JSON lines (.jsonl)")
    return ImportFiles(path, files)


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
    loader = _Loader(files.root, Report())
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
                yield each
        self.report.skipped += empty

    def _is_new(self, document: LegalDocument, shown_path: PurePosixPath) -> bool:
        """Whether this import had no such document before: one would undo the other."""
        identity = (document.kind, document.title, document.part, document.version_date)
        if (first := self._from.get(identity)) is None:
            self._from[identity] = str(shown_path)
            return True
        self._complain(shown_path, 1, f"the same document as in {first}: {document.title}")
        return False

    def _complain(self, file: PurePosixPath, line: int, message: str) -> None:
        self.report.broken.append(Broken(str(file), line, message))


def _is_file(path: Path) -> bool:
    """A link that leads nowhere counts, so that it is reported; a pipe would never end."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def _read(file: Path, shown_path: PurePosixPath) -> Iterator[LegalDocument | BrokenText]:
    try:
        if file.suffix.lower() == ".jsonl":
            with file.open("rb") as lines:
                yield from jsonl.read(lines, shown_path)
        elif (document := markdown.read(_text(file), shown_path)) is not None:
            yield document
    except BrokenText as error:
        yield error
    except OSError as error:
        yield BrokenText(error.strerror or "can't be read")


def _text(file: Path) -> str:
    if file.stat().st_size > LARGEST_TEXT:
        raise BrokenText(f"larger than {LARGEST_TEXT // 1024 // 1024} MiB")
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BrokenText("not UTF-8", line) from error
    if not text.strip():
        raise BrokenText("empty")
    return text
