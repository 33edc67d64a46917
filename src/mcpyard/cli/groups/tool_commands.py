"""The commands about tools."""

from typing import Annotated

import typer

from mcpyard.cli.commands.completion import complete_name
from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import HomeOption, JsonOption, ProjectOption

app = typer.Typer()
_tools = Group(app, "Tools")


@_tools.command(examples="mcpyard tools\nmcpyard tools time")
def tools(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="Name or id of the server.", autocompletion=complete_name
        ),
    ] = None,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the tools of one server, or of all."""
    from mcpyard.cli.commands.tools import list_tools

    return list_tools(home_folder(home), project, name, as_json=as_json)


@_tools.command(
    examples="mcpyard call time get_current_time timezone=Asia/Tokyo\n"
    'mcpyard call mcp_time_get_current_time --args \'{"timezone": "Asia/Tokyo"}\''
)
def call(  # noqa: PLR0913, PLR0917  one parameter an option
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="SERVER TOOL [KEY=VALUE]...",
            help="The tool of a server, or its exposed name alone; then its arguments. A value is "
            "JSON where the schema of the tool asks for that, else text.",
        ),
    ],
    args: Annotated[
        str, typer.Option("--args", metavar="JSON", help="Arguments as a JSON object.")
    ] = "{}",
    timeout: Annotated[
        int | None, typer.Option("--timeout", metavar="MS", help="Time limit of the call.")
    ] = None,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """Call a tool and print its result."""
    from mcpyard.cli.commands.call import call_tool, read_call

    call = read_call(words, args, timeout)
    return call_tool(home_folder(home), project, call, as_json=as_json)
