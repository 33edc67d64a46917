"""The commands about sign-in, tokens and approval."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mcpyard.cli.folders import check_project
from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import HomeOption, JsonOption, NameArgument, WaitOption, YesOption

app = typer.Typer()
_access = Group(app, "Access")


@_access.command(examples="mcpyard login docs\nmcpyard login docs --no-browser")
def login(
    name: NameArgument,
    wait: WaitOption = 300,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open a browser, or only print the URL.")
    ] = True,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Sign in to a remote server."""
    from mcpyard.cli.commands.login import sign_in

    return sign_in(home_folder(home), name, wait, browser=browser, as_json=as_json)


@_access.command(examples="mcpyard logout docs")
def logout(name: NameArgument, home: HomeOption = None, as_json: JsonOption = False) -> int:
    """Sign out of a remote server: delete its tokens."""
    from mcpyard.cli.commands.login import sign_out

    return sign_out(home_folder(home), name, as_json=as_json)


@_access.command(examples="mcpyard approve\nmcpyard approve ~/my-app --yes")
def approve(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            callback=check_project,
            help="Folder of the project; default: the current one.",
        ),
    ] = None,
    replace: Annotated[
        list[str] | None,
        typer.Option(
            "--replace", metavar="NAME", help="Let this entry replace your server; repeatable."
        ),
    ] = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what the .mcp.json of a project runs, and approve it."""
    from mcpyard.cli.commands.approve import approve as approve_folder

    names = tuple(replace or ())
    project = folder or Path.cwd()
    return approve_folder(home_folder(home), project, names, yes=yes, as_json=as_json)


@_access.command(
    examples="mcpyard token create laptop\n"
    "mcpyard token create ci --profile work --expires 30d\n"
    "mcpyard token revoke laptop"
)
def token(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "create", "revoke", "rotate"],
        typer.Argument(
            metavar="{ls|create|revoke|rotate}",
            help="List, create or revoke call tokens, or replace the admin token.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="For create and revoke, the name of the token."),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", metavar="NAME", help="Limit a new token to this profile."),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="Let a new token expire, as in 30d or 12h."),
    ] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Manage the call tokens of the gateway, and the admin token."""
    from mcpyard.cli.commands.token import TokenTerms, manage_tokens

    terms = TokenTerms(profile, expires)
    return manage_tokens(home_folder(home), action, name, terms, as_json=as_json)
