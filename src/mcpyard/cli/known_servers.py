"""The servers that are defined, read without starting or storing anything."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import UUID, uuid4

from mcpyard.cli.status_words import NOT_RUNNING
from mcpyard.domain.definition.approval import Entries, admit
from mcpyard.domain.definition.expand import Lookup, SecretText
from mcpyard.domain.desired import DesiredServer, DesireInputs, Document, Owner
from mcpyard.domain.desiring import desire
from mcpyard.domain.errors import Problem, ServerUnknown
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Observed
from mcpyard.formats import environment
from mcpyard.sources.database import read_stored
from mcpyard.sources.file_names import PROJECT_FILE
from mcpyard.sources.project_file import read_project
from mcpyard.store.sqlite.peeking import Peeked, peek_definitions
from mcpyard.yard.trust import real_folder
from mcpyard.yard.views.servers import server_view


@dataclass(frozen=True, slots=True)
class KnownServers:
    """The servers that the project file, the environment and on request a home define.

    The project file at `path` may be absent; `servers` are those in force, by name.
    """

    path: Path
    documents: tuple[Document, ...]
    servers: Mapping[str, DesiredServer]
    problems: tuple[Problem, ...]

    def server(self, name: str) -> DesiredServer:
        """The server of that name."""
        server = self.servers.get(name)
        if server is None:
            raise ServerUnknown(f'there is no server "{name[:80]}"')
        return server


def find_servers(project: Path | None, stored: Peeked | None = None) -> KnownServers:
    """Read the definitions of a folder, by default the current one, and of the environment.

    Raises:
        DocumentBroken: The project file cannot be read, or does not parse.
    """
    home = stored or Peeked()
    path = (project or Path.cwd()).absolute() / PROJECT_FILE
    own = () if stored is None else (read_stored(home.definitions),)
    documents = (read_project(path.parent), environment.read(os.environ), *own)
    identities: dict[tuple[Owner, str], UUID] = {
        (document.owner, each.name): home.identities.get((document.owner, each.name)) or uuid4()
        for document in documents
        for each in document.definitions
    }
    admission = admit(documents, _approved(documents[0].owner, home, named=project is not None))
    inputs = DesireInputs(
        identities,
        os.environ.get,
        home.policies,
        waiting=admission.waiting,
        lookup_for=partial(_lookup_for, home),
    )
    desired = desire(admission.documents, inputs)
    servers = {each.name: each for each in desired.servers.values()}
    return KnownServers(path, documents, servers, desired.problems)


def _lookup_for(home: Peeked, owner: Owner) -> Lookup:
    """The lookup of an owner; a stored secret is known by its name alone."""

    def lookup(name: str) -> str | None:
        value = os.environ.get(name)
        allowed = owner.scope is not Scope.PROJECT or (owner.place, name) in home.consents
        return SecretText(name) if value is None and name in home.secrets and allowed else value

    return lookup


def _approved(owner: Owner, home: Peeked, *, named: bool) -> Mapping[Owner, Entries]:
    """The approved entries of a project file; `--project` approves a new one as a whole."""
    approval = home.approvals.get(real_folder(Path(owner.place).parent))
    if approval is None:
        return {} if named else {owner: {}}
    return {} if approval.entries is None else {owner: approval.entries}


def find_known(home: Path, project: Path | None) -> KnownServers:
    """The servers of a folder, of the environment and of a home that no process holds.

    Raises:
        StateBroken: The state in the home cannot be read.
        NewerState: A newer version wrote it.
    """
    return find_servers(project, peek_definitions(home))


def still_record(server: DesiredServer) -> dict[str, object]:
    """The record of a server while mcpyard is not running; it has no id."""
    view = server_view(server, Observed(server.id), ())
    return view.to_dict() | {"id": None, "yard": NOT_RUNNING}
