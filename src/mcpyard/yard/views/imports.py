"""What reading a text, and importing servers, gives."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from mcpyard.yard.views.base import FieldProblem, View
from mcpyard.yard.views.clients import ImportOutcome, ImportView, Number
from mcpyard.yard.views.problems import ProblemView
from mcpyard.yard.views.servers import ServerView


class ParsedServer(View, frozen=True, kw_only=True):
    """A server in a text."""

    name: str
    definition: Annotated[dict[str, object], Meta(extra={"schema": "Definition"})]
    warnings: list[str]


class ParsedView(View, frozen=True, kw_only=True):
    """What a text holds."""

    servers: list[ParsedServer]
    problems: list[FieldProblem]


class PastedImport(View, frozen=True, kw_only=True):
    """A server of a text, and what became of it."""

    name: str
    outcome: ImportOutcome
    server: ServerView | None
    problem: ProblemView | None
    warnings: list[str]


class MachineImport(ImportView, frozen=True, kw_only=True):
    """A server of a program's file, with the members that one of a text has."""

    server: None = None
    problem: None = None


class ImportedView(View, frozen=True, kw_only=True):
    """What an import did, or would do."""

    dry_run: bool
    servers: Sequence[Annotated[View, Meta(extra={"schema": "ImportedServer"})]]
    problems: list[FieldProblem]
    edit: Annotated[
        Number | None, Meta(description="The id of the edit, to undo it; null if nothing changed.")
    ] = None
