"""The commands for living with a yard: as a service, and in a shell.

As light as `main`: a command imports what it needs when it runs.
"""

from typing import Annotated, Literal

import typer

from mcpyard.cli.options import HomeOption, JsonOption, ProjectOption

app = typer.Typer()


@app.command()
def service(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["install", "uninstall", "status"],
        typer.Argument(metavar="ACTION", help="install, uninstall or status."),
    ],
    project: ProjectOption = None,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="The port that the yard listens on.")
    ] = 8712,
    only_print: Annotated[
        bool, typer.Option("--print", help="Change nothing; print the unit that install writes.")
    ] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Run the yard as a service of your systemd, from your sign-in on."""
    from mcpyard.cli.commands.paths import home_folder
    from mcpyard.cli.commands.service import ServiceAction, ServiceOptions, manage_service

    wish = ServiceOptions(home_folder(home).absolute(), port, project)
    return manage_service(ServiceAction(action), wish, only_print=only_print, as_json=as_json)


@app.command()
def completion(
    context: typer.Context,
    shell: Annotated[
        Literal["bash", "zsh", "fish"], typer.Argument(metavar="SHELL", help="bash, zsh or fish.")
    ],
) -> int:
    """Print what makes a shell complete the words of this command."""
    from mcpyard.cli.commands.completion import print_script

    return print_script(context, shell)
