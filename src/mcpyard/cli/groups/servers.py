"""The commands that change which servers there are, with their options.

As light as `main`: a command imports what it needs when it runs.
"""

from typing import Annotated, Final, Literal, cast

import typer
from typer.core import TyperCommand

from mcpyard.cli.options import (
    DryRunOption,
    HomeOption,
    JsonOption,
    NameArgument,
    ProjectOption,
    WaitOption,
)

app = typer.Typer()

_BEHIND: Final = "mcpyard.behind the dashes"


class _Dashed(TyperCommand):
    """A command that knows how many of its words stand behind `--`."""

    def parse_args(self, ctx: object, args: list[str]) -> list[str]:
        context = cast("typer.Context", ctx)
        behind = args[args.index("--") + 1 :] if "--" in args else []
        context.meta[_BEHIND] = len(behind)
        return super().parse_args(context, args)


def _command_words(context: typer.Context, words: list[str] | None) -> list[str]:
    """The url or the command; what stands before `--` is part of no command behind it."""
    said, behind = words or [], cast("int", context.meta[_BEHIND])
    if 0 < behind < len(said):
        from mcpyard.cli.cli_errors import usage

        hint = f"mcpyard {context.info_name} NAME [OPTIONS] -- COMMAND ARGS..."
        raise usage(f'the command stands behind --, but "{said[0][:80]}" stands before it', hint)
    return said


_Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="COMMAND", help="A url; or, behind --, a command with arguments."),
]
_Env = Annotated[list[str] | None, typer.Option("--env", metavar="NAME=VALUE", help="Repeatable.")]
_Header = Annotated[
    list[str] | None, typer.Option("--header", metavar="'NAME: VALUE'", help="Repeatable.")
]
_OAuth = Annotated[
    list[str] | None,
    typer.Option("--oauth", metavar="NAME=VALUE", help="clientId, clientSecret or metadataUrl."),
]
_Transport = Annotated[
    Literal["stdio", "http", "sse"] | None,
    typer.Option("--transport", help="How to speak to it; inferred unless told."),
]
_Cwd = Annotated[str | None, typer.Option("--cwd", metavar="DIR", help="Where its command runs.")]
_Timeout = Annotated[
    int | None, typer.Option("--timeout", metavar="MS", help="The limit of a call.")
]
_Scope = Annotated[
    Literal["project", "user"] | None,
    typer.Option("--scope", help="Where it lives; the project's file if the yard serves one."),
]


@app.command(cls=_Dashed)
def add(  # noqa: PLR0913, PLR0917  one parameter an option
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Its name.")] = None,
    words: _Words = None,
    json_text: Annotated[
        str | None, typer.Option("--json-text", metavar="JSON", help="The definition; - is stdin.")
    ] = None,
    scope: _Scope = None,
    env: _Env = None,
    header: _Header = None,
    oauth: _OAuth = None,
    transport: _Transport = None,
    cwd: _Cwd = None,
    timeout: _Timeout = None,
    start: Annotated[
        bool | None, typer.Option("--start/--no-start", help="Whether to start it.")
    ] = None,
    wait: WaitOption = 0,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Register a server."""
    from mcpyard.cli.commands.add import Addition, add_server
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.definition_options import DefinitionOptions

    spoken = _command_words(context, words)
    said = DefinitionOptions(spoken, env or (), header or (), oauth or (), transport, cwd, timeout)
    addition = Addition(name, json_text, scope, start, wait)
    return add_server(home_folder(home), addition, said, as_json=as_json)


@app.command(cls=_Dashed)
def edit(  # noqa: PLR0913, PLR0917  one parameter an option
    context: typer.Context,
    name: NameArgument,
    words: _Words = None,
    json_text: Annotated[
        str | None,
        typer.Option("--json-text", metavar="JSON", help="Any fields to change; - is stdin."),
    ] = None,
    command: Annotated[str | None, typer.Option("--command", help="The program alone.")] = None,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", help="Repeatable; all of them replace all.")
    ] = None,
    url: Annotated[str | None, typer.Option("--url", help="The address.")] = None,
    env: _Env = None,
    header: _Header = None,
    oauth: _OAuth = None,
    transport: _Transport = None,
    cwd: _Cwd = None,
    timeout: _Timeout = None,
    new_name: Annotated[str | None, typer.Option("--name", help="Its new name.")] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enable/--disable", help="Whether it may run.")
    ] = None,
    if_match: Annotated[
        str | None, typer.Option("--if-match", metavar="DIGEST", help="The state that is meant.")
    ] = None,
    when_running: Annotated[
        Literal["restart", "refuse"],
        typer.Option("--when-running", help="What to do if it would have to restart."),
    ] = "restart",
    wait: WaitOption = 0,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Change a server; what is not said stays as it is."""
    from mcpyard.cli.commands.add import Alteration, edit_server
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.definition_options import DefinitionOptions

    spoken = _command_words(context, words)
    said = DefinitionOptions(spoken, env or (), header or (), oauth or (), transport, cwd, timeout)
    change = Alteration(
        json_text, command, arg or (), url, new_name, enabled, if_match, when_running, wait
    )
    return edit_server(home_folder(home), name, change, said, as_json=as_json)


@app.command()
def rm(
    name: NameArgument,
    sure: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Stop a server and take it out."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.rm import remove_server

    return remove_server(home_folder(home), name, sure=sure, as_json=as_json)


@app.command("import")
def import_(  # noqa: PLR0913, PLR0917  one parameter an option
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A file; - is standard input; else this machine."),
    ] = None,
    dry_run: DryRunOption = False,
    scope: _Scope = None,
    project: ProjectOption = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Register the servers of a file, a pasted text or this machine; they wait, stopped."""
    from mcpyard.cli.commands.import_ import Machine, import_file, import_machine
    from mcpyard.cli.commands.paths import home_folder

    if file is None:
        machine = Machine(home_folder(home), project, scope, dry_run)
        return import_machine(machine, as_json=as_json)
    return import_file(home_folder(home), file, scope, dry_run=dry_run, as_json=as_json)


@app.command()
def login(
    name: NameArgument,
    wait: WaitOption = 300,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")
    ] = True,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Sign in at a remote server."""
    from mcpyard.cli.commands.login import sign_in
    from mcpyard.cli.commands.paths import home_folder

    return sign_in(home_folder(home), name, wait, browser=browser, as_json=as_json)
