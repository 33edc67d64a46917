"""The servers that are defined, read without starting or storing anything."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import UUID, uuid4

from mcpyard.cli.words import NOT_RUNNING
from mcpyard.domain.desired import Circumstances, DesiredServer, Document, Owner, desire
from mcpyard.domain.errors import DocumentBroken, Place, Problem, ServerUnknown
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Observed
from mcpyard.formats import environment, mcp_json
from mcpyard.sources.database import read_stored
from mcpyard.sources.project_file import FILE_NAME
from mcpyard.sources.reading import read_file
from mcpyard.store.sqlite.peeking import Peeked, peek_definitions
from mcpyard.yard.records import Record, record

_UNREADABLE: Final = "See what stands there and who may read it: it must be a readable text file."


@dataclass(frozen=True, slots=True)
class Found:
    """What the project file, the environment and, where it was asked, a home define.

    Attributes:
        path: The project file; it may be absent.
        trusted: Whether the user named its folder, or approved it before: the word to run it.
        documents: What was read: the project's, the environment's, and the home's where asked.
        servers: The servers in force, by name.
        problems: What could not be used.
    """

    path: Path
    trusted: bool
    documents: tuple[Document, ...]
    servers: Mapping[str, DesiredServer]
    problems: tuple[Problem, ...]

    def server(self, name: str) -> DesiredServer:
        """The server of that name."""
        found = self.servers.get(name)
        if found is None:
            raise ServerUnknown(f'there is no server "{name[:80]}"')
        return found

    def may_run(self, server: DesiredServer) -> bool:
        """Whether the user gave the word to run it."""
        return self.trusted or server.owner.scope is not Scope.PROJECT


def find_servers(project: Path | None, stored: Peeked | None = None) -> Found:
    """Read the definitions of a folder, the current one unless named, and of the environment.

    Args:
        project: The folder.
        stored: What a home knows of servers besides.

    Raises:
        DocumentBroken: The project file cannot be read, or does not parse.
    """
    kept = stored or Peeked()
    path = (project or Path.cwd()).absolute() / FILE_NAME
    own = () if stored is None else (read_stored(kept.definitions),)
    documents = (_project(path), environment.read(os.environ), *own)
    identities: dict[tuple[Owner, str], UUID] = {
        (document.owner, each.name): kept.identities.get((document.owner, each.name)) or uuid4()
        for document in documents
        for each in document.definitions
    }
    desired = desire(documents, Circumstances(identities, os.environ.get, kept.policies))
    servers = {each.name: each for each in desired.servers.values()}
    trusted = project is not None or str(path.parent.resolve()) in kept.approved
    return Found(path, trusted, documents, servers, desired.problems)


def find_known(home: Path, project: Path | None) -> Found:
    """What a folder, the environment and a home that no yard holds define.

    Raises:
        StateBroken: What the home holds cannot be read.
        NewerState: A newer version wrote it.
    """
    return find_servers(project, peek_definitions(home))


def still_record(server: DesiredServer) -> Record:
    """The record of a server that nobody runs; it has no id yet."""
    shown = record(server, Observed(server.id), ())
    return shown | {"id": None, "yard": NOT_RUNNING}


def _project(path: Path) -> Document:
    owner = Owner(Scope.PROJECT, str(path))
    try:
        return mcp_json.read(read_file(path).decode(), owner)
    except FileNotFoundError:
        return Document(owner)
    except OSError as error:
        problem = Problem("", f"cannot be read: {error.strerror}", Place(str(path), 0, 0))
        raise DocumentBroken.of(problem).advising(_UNREADABLE) from error
    except UnicodeDecodeError as error:
        message = f"{path}: is not UTF-8 (byte {error.start})"
        raise DocumentBroken.of(Problem("", message)) from None
