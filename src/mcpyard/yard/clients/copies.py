"""Several servers copied to several clients at once: one unit to undo."""

from dataclasses import dataclass

from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.yard.clients.clients import Clients, Copy, EditTerms
from mcpyard.yard.views.clients import CopiesView, copies_view


@dataclass(frozen=True, slots=True)
class CopyMany:
    """What to copy: servers of one client to some others.

    Attributes:
        source: Where they are, such as `claude:project`.
        targets: Where they are to be.
        names: What they are called; None for all that are there.
        matrix: The table to follow.
        replace: Whether to put each in the place of one that has its name.
        move: Whether to take them away from where they are.
    """

    source: str
    targets: tuple[str, ...]
    names: tuple[str, ...] | None = None
    matrix: Matrix = Matrix.NATIVE
    replace: bool = False
    move: bool = False


async def copy_many(clients: Clients, request: CopyMany, terms: EditTerms) -> CopiesView:
    """Copy all that can be copied; of what cannot be, the reason is told.

    Raises:
        ArgumentsRefused: There is no target, or a move to more than one.
    """
    targets = tuple(dict.fromkeys(request.targets))
    if not targets:
        raise ArgumentsRefused.of(Problem("to", "names no client"))
    if request.move and len(targets) > 1:
        message = "cannot move to several clients; copy to them, then remove the original"
        raise ArgumentsRefused.of(Problem("move", message))
    names = request.names
    if names is None:
        names = await _all_names(clients, request.source, terms.project)
    copies = [
        Copy(
            request.source,
            target,
            name,
            matrix=request.matrix,
            replace=request.replace,
            move=request.move,
        )
        for target in targets
        for name in dict.fromkeys(names)
    ]
    done, copied = await clients.copy_all(copies, terms, "move" if request.move else "copy")
    return copies_view(done, copied)


async def _all_names(clients: Clients, source: str, project: str | None) -> tuple[str, ...]:
    """The names in a scope, those of all its files."""
    words = clients.words_of_scope(source)
    groups = await clients.groups(project)
    mine = [each for each in groups if f"{each.client}:{each.scope}" == words]
    return tuple(dict.fromkeys(server.name for each in mine for server in each.servers))
