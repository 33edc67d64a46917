"""What operations on other programs' files did, and their servers before they are shown."""

from dataclasses import dataclass

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem, SourceLocation, YardError
from mcpyard.formats.effective import Effective, ServerStatus
from mcpyard.formats.entries import Entry
from mcpyard.formats.warnings import Warned


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation did, or would do.

    Attributes:
        files: Each file that is different, as a path and a difference.
        warnings: What is to be told.
        edit: The number to undo it by; None where nothing was written.
        removes: The servers of the yard that an undo takes out; None for what is no undo.
        overwritten: Those of the warnings that are about files which their programs overwrote.
    """

    files: tuple[tuple[str, str], ...]
    warnings: tuple[Warned, ...] = ()
    edit: int | None = None
    removes: tuple[str, ...] | None = None
    overwritten: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of one of several copies, and why there is none of it."""

    name: str
    target: str
    warnings: tuple[Warned, ...] = ()
    error: YardError | None = None


@dataclass(frozen=True, slots=True)
class EntryStatus:
    """A server to be shown: what it says, and what becomes of it."""

    name: str
    entry: Entry | None
    state: Effective
    reason: str = ""
    where: SourceLocation | None = None
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, status: ServerStatus) -> "EntryStatus":
        """A server of a file."""
        listed = status.listed
        return cls(
            listed.name,
            listed.entry,
            status.state,
            status.reason,
            # Where nothing else decides, the entry itself does.
            status.where or listed.place,
            listed.problems,
        )

    @property
    def enabled(self) -> bool:
        """Whether it is switched on, whatever else keeps it from being used."""
        on = self.entry is None or self.entry.enabled is not False
        return on and self.state is not Effective.DISABLED


def own_status(server: DesiredServer, entry: Entry) -> EntryStatus:
    """A server of the yard itself."""
    if server.held:
        reason = "the project file needs approval: mcpyard approve"
        return EntryStatus(server.name, entry, Effective.UNTRUSTED, reason, server.place)
    state = Effective.ENABLED if server.config.enabled else Effective.DISABLED
    return EntryStatus(server.name, entry, state, "", server.place)
