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


@_access.command(
    examples="mcpyard secret set GITHUB_TOKEN\n"
    "pass show github | mcpyard secret set GITHUB_TOKEN --allow .\n"
    "mcpyard secret rm GITHUB_TOKEN"
)
def secret(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "set", "rm"],
        typer.Argument(metavar="{ls|set|rm}", help="List, set or delete secrets."),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="For set and rm, the name of the variable."),
    ] = None,
    key_ring: Annotated[
        bool, typer.Option("--keyring", help="Store it in your key ring, not in mcpyard.")
    ] = False,
    allow: Annotated[
        Path | None,
        typer.Option(
            "--allow",
            metavar="DIR",
            callback=check_project,
            help="Let the .mcp.json of this project use it, too.",
        ),
    ] = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Manage the values that references such as ${NAME} find after the environment.

    `set` reads the value from the standard input, or asks for it.
    """
    from mcpyard.cli.commands.secret import SecretTerms, manage_secrets

    terms = SecretTerms(key_ring, allow, yes)
    return manage_secrets(home_folder(home), action, name, terms, as_json=as_json)


@_access.command(
    examples="mcpyard profile add work --server docs --server 'git*' --hide docs/delete\n"
    "mcpyard profile edit work --add files\n"
    "mcpyard profile rm work"
)
def profile(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "add", "edit", "rm"],
        typer.Argument(metavar="{ls|add|edit|rm}", help="List, create, change or delete profiles."),
    ],
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="The name of the profile; not for ls."),
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(
            "--server",
            metavar="NAME",
            help="A server that it shows: a name, an id or a pattern with *; repeatable, "
            "replaces the list.",
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="NAME", help="For edit: show this server, too."),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="NAME", help="For edit: no longer show this server."),
    ] = None,
    hide: Annotated[
        list[str] | None,
        typer.Option("--hide", metavar="SERVER/TOOL", help="Hide this tool; repeatable."),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="SERVER/TOOL", help="For edit: show a hidden tool again."),
    ] = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Manage profiles: selections of servers and tools with their own gateway URL."""
    from mcpyard.cli.commands.profile import ProfileOptions, manage_profiles

    options = ProfileOptions(server or (), add or (), remove or (), hide or (), show or ())
    return manage_profiles(home_folder(home), action, name, options, yes=yes, as_json=as_json)
