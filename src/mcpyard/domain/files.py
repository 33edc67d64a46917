"""Files of other programs: as they are read, and as they are to be changed."""

from dataclasses import dataclass, field
from enum import StrEnum

from msgspec import Struct

from mcpyard.domain.errors import Problem


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as it was read; there is no text where there is no file or a fault.

    The mode is the system's; a tracked file is kept under version control.
    """

    path: str
    text: str | None = field(default=None, repr=False)
    fault: Problem | None = None
    mode: int | None = None
    tracked: bool = False


@dataclass(frozen=True, slots=True)
class FileWrite:
    """A file to be changed from one text to another; None stands for no file."""

    path: str
    before: str | None = field(repr=False)
    after: str | None = field(repr=False)

    @property
    def back(self) -> "FileWrite":
        """The way back."""
        return FileWrite(self.path, self.after, self.before)


class LockKind(StrEnum):
    """How a program says that it is writing: by making a folder, or by locking a file it keeps."""

    FOLDER = "folder"
    FILE = "file"


class FileLock(Struct, frozen=True):
    """A program's own lock."""

    kind: LockKind
    path: str
