"""The help of the command and of its commands: plain text in groups, with examples.

Light on purpose: every command passes through here.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Protocol, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

_NO_SHORT_OPTION: Final = "    "

_Function = TypeVar("_Function", bound=Callable[..., object])


class _Page(Protocol):
    """Takes the parts of a help text."""

    def section(self, name: str) -> AbstractContextManager[None]: ...

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...

    def write_text(self, text: str) -> None: ...


class Command(TyperCommand):
    """One command; its epilog is an example a line."""

    def collect_usage_pieces(self, ctx: object) -> list[str]:
        """The words behind the name of the command."""
        del ctx
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(each.metavar) for each in arguments)]

    def format_options(self, ctx: object, formatter: object) -> None:
        """Explain the arguments and the options."""
        _write_parameters(self, ctx, cast("_Page", formatter))

    def format_epilog(self, ctx: object, formatter: object) -> None:
        """Show the examples."""
        del ctx
        page = cast("_Page", formatter)
        if self.epilog:
            with page.section("Examples"):
                # The sign keeps the lines from being joined.
                page.write_text(f"\b\n{self.epilog}")


class RootGroup(TyperGroup):
    """The `mcpyard` command; lists its commands by group."""

    def format_options(self, ctx: object, formatter: object) -> None:
        """List the commands, then the options."""
        page = cast("_Page", formatter)
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in cast("dict[str, TyperCommand]", self.commands).items():
            if not command.hidden:
                summary = command.get_short_help_str(80).rstrip(".")
                groups.setdefault(command.rich_help_panel or "", []).append((name, summary))
        width = max(len(name) for rows in groups.values() for name, _ in rows)
        for title, rows in groups.items():
            with page.section(title):
                page.write_dl([(name.ljust(width), summary) for name, summary in rows])
        _write_parameters(self, ctx, page)


class Group:
    """A group of the help, to which functions are added as commands."""

    def __init__(self, app: typer.Typer, title: str) -> None:
        self._app = app
        self._title = title

    def command(
        self,
        name: str | None = None,
        *,
        examples: str = "",
        hidden: bool = False,
        cls: type[Command] = Command,
    ) -> Callable[[_Function], _Function]:
        """Add a function as a command; `examples` are command lines, one a line."""
        return self._app.command(
            name, cls=cls, epilog=examples, hidden=hidden, rich_help_panel=self._title
        )


def _write_parameters(command: TyperCommand | TyperGroup, context: object, page: _Page) -> None:
    parameters = command.get_params(cast("Any", context))
    records = {each: each.get_help_record(cast("Any", context)) for each in parameters}
    arguments = [
        # The usage line shows which are required.
        (str(each.metavar), record[1].removesuffix("[required]").rstrip())
        for each, record in records.items()
        if record and each.param_type_name == "argument"
    ]
    options = [
        (name if name[1] != "-" else f"{_NO_SHORT_OPTION}{name}", text)
        for (name, text) in (
            record
            for each, record in records.items()
            if record and each.param_type_name == "option"
        )
    ]
    for title, rows in (("Arguments", arguments), ("Options", options)):
        if rows:
            with page.section(title):
                page.write_dl(rows)
