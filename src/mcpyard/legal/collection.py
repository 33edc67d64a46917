"""Which corpus is read: the imported one, or the sample while nothing was imported."""

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mcpyard.legal.corpus import Corpus
from mcpyard.legal.library import Hit, Library
from mcpyard.legal.model import DocumentKind
from mcpyard.legal.notices import say_here
from mcpyard.legal.reading.loading import find, load
from mcpyard.legal.schema import NotACorpus

SAMPLE: Final = Path(__file__).parent / "sample"
_FILE: Final = "corpus.db"


def default_folder() -> Path:
    """Where the corpus lives when nobody says: `legal` in the home, or in the user's data.

    mcpyard names its home in MCPYARD_LEGAL_HOME, a user in MCPYARD_HOME.

    Raises:
        NotACorpus: The user has no home directory.
    """
    if home := os.environ.get("MCPYARD_LEGAL_HOME") or os.environ.get("MCPYARD_HOME"):
        return Path(home) / "legal"
    from platformdirs import user_data_path  # noqa: PLC0415  most callers name their home

    try:
        return user_data_path("mcpyard") / "legal"
    except RuntimeError:
        raise NotACorpus(say_here("no_home")) from None


def corpus_file(folder: Path) -> Path:
    """The database of a corpus folder."""
    return folder / _FILE


@dataclass(frozen=True, slots=True)
class LegalTemplate:
    """A template with its passage, which says where it came from."""

    name: str
    title: str
    text: str
    hit: Hit


class Collection:
    """The texts that the server answers from. An import is seen while the server runs."""

    def __init__(self, folder: Path) -> None:
        """Open what is there; nothing is written."""
        self._file = corpus_file(folder)
        self._opening = threading.Lock()
        self._corpus: Corpus | None = None
        self._sample_corpus = Corpus()
        load(find(SAMPLE), self._sample_corpus, lambda _done, _of: None)
        self._sample = Library(self._sample_corpus)
        self._imported: Library | None = None

    def close(self) -> None:
        """Let go of the files."""
        self._sample_corpus.close()
        if self._corpus is not None:
            self._corpus.close()

    def library(self) -> Library:
        """The corpus to read now."""
        with self._opening:
            return self._find_imported() or self._sample

    def templates(self) -> dict[str, LegalTemplate]:
        """All templates by name: the sample ones always, imported ones before them."""
        templates = {each.name: each for each in _templates(self._sample)}
        return templates | {each.name: each for each in _templates(self.library())}

    def _find_imported(self) -> Library | None:
        if self._imported is not None:
            return self._imported
        if self._corpus is None and self._file.exists():
            self._corpus = Corpus(self._file)
        if self._corpus is not None and any(self._corpus.counts().values()):
            self._imported = Library(self._corpus)
        return self._imported


def _templates(library: Library) -> list[LegalTemplate]:
    templates: list[LegalTemplate] = []
    for name in library.titles(DocumentKind.TEMPLATE):
        for hit in library.whole(DocumentKind.TEMPLATE, name)[:1]:
            title = hit.row["headline"] or name
            templates.append(LegalTemplate(name, title, hit.row["text"], hit))
    return templates
