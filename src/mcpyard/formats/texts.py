"""The texts that an evaluation needs, as the caller found them, each parsed at most once."""

from collections.abc import Mapping

from mcpyard.domain.errors import DocumentBroken, Problem
from mcpyard.domain.files import FileText as Text
from mcpyard.formats.documents import Parsed, editor_for
from mcpyard.formats.facts import FileFormat


class ParsedFiles:
    """The texts of a machine; a broken one is remembered as a problem and counts as absent.

    `along` is a path of keys on which places are asked for: one program keeps an object for each
    project, among many others, in a file of megabytes. `own` is the language of the client's own.
    """

    def __init__(
        self,
        texts: Mapping[str, Text],
        along: tuple[str, ...] = (),
        own: FileFormat = FileFormat.JSON,
    ) -> None:
        self.texts = texts
        self._own = own
        self._along = along
        self._opened: dict[str, Parsed | None] = {}
        self.problems: dict[str, tuple[Problem, ...]] = {}

    def text(self, path: str) -> Text:
        """A file as it was found; absent where nobody looked."""
        return self.texts.get(path) or Text(path)

    def open(self, path: str) -> Parsed | None:
        """A file as it was read, or None where there is none."""
        if path not in self._opened:
            self._opened[path] = self._open(self.text(path))
        return self._opened[path]

    def _open(self, text: Text) -> Parsed | None:
        if text.fault is not None:
            self.problems[text.path] = (text.fault,)
        if text.text is None:
            return None
        try:
            return editor_for(text.path, self._own).parse(text.text, text.path, self._along)
        except DocumentBroken as broken:
            self.problems[text.path] = broken.problems
            return None
