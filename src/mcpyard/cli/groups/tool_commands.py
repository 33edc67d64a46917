"""The commands about tools."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from mcpyard.cli.commands.completion import complete_name
from mcpyard.cli.help_text import Group
from mcpyard.cli.home_files import home_folder
from mcpyard.cli.options import HomeOption, JsonOption, ProjectOption, YesOption

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


_Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SERVER | get SERVER PROMPT]",
        help="Name or id of a server, whose prompts are listed; or the prompt to fill in.",
    ),
]


@_tools.command(
    examples="mcpyard prompts\nmcpyard prompts files\n"
    "mcpyard prompts get files summary --arg path=notes.md"
)
def prompts(
    words: _Words = None,
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg", metavar="KEY=VALUE", help="Argument of the prompt to fill in; repeatable."
        ),
    ] = None,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the prompts of one server or of all, or fill one in."""
    from mcpyard.cli.call_arguments import read_pairs
    from mcpyard.cli.commands.content import get_prompt, list_prompts, split_words

    example = "mcpyard prompts get SERVER PROMPT --arg KEY=VALUE"
    server, prompt = split_words(words or [], "get", example)
    if prompt is None:
        return list_prompts(home_folder(home), project, server, as_json=as_json)
    return get_prompt(home_folder(home), project, *prompt, read_pairs(arg or []), as_json)


_ResourceWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SERVER | read SERVER URI]",
        help="Name or id of a server, whose resources are listed; or the resource to read.",
    ),
]


@_tools.command(
    examples="mcpyard resources\nmcpyard resources files\n"
    "mcpyard resources read files file:///data/notes.md\n"
    "mcpyard resources read files file:///data/photo.png --output photo.png"
)
def resources(
    words: _ResourceWords = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write what is read to this file."),
    ] = None,
    home: HomeOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> int:
    """List the resources and templates of one server or of all, or read a resource."""
    from mcpyard.cli.commands.content import list_resources, read_resource, split_words

    server, resource = split_words(words or [], "read", "mcpyard resources read SERVER URI")
    if resource is None:
        return list_resources(home_folder(home), project, server, as_json=as_json)
    return read_resource(home_folder(home), project, *resource, output, as_json)


@_tools.command(
    examples="mcpyard calls\nmcpyard calls ls --since 1h --sort duration\nmcpyard calls show 17\n"
    "mcpyard calls show 17 --as curl\nmcpyard calls record on\nmcpyard calls purge --yes"
)
def calls(  # noqa: PLR0913, PLR0917  one parameter an option
    action: Annotated[
        Literal["ls", "show", "purge", "record"],
        typer.Argument(
            metavar="[ls|show|purge|record]",
            help="List calls, show one, delete the recorded arguments and results, or say whether "
            "to record them.",
        ),
    ] = "ls",
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID|on|off|auto]", help="For show, the id of a call; for record, the mode."
        ),
    ] = None,
    server: Annotated[
        str | None, typer.Option("--server", metavar="NAME", help="Only calls of this server.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", metavar="TOOL", help="Only calls of this tool.")
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome", metavar="OUTCOME", help="Only calls that ended so; failed: all but ok."
        ),
    ] = None,
    who: Annotated[
        str | None, typer.Option("--who", metavar="CALLER", help="Only calls of this caller.")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only calls since a time, or an age: 1h."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Only calls before a time.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--text", metavar="TEXT", help="Only calls with this in a name or an error."),
    ] = None,
    sort: Annotated[
        Literal["time", "duration", "size", "outcome"] | None,
        typer.Option("--sort", metavar="time|duration|size|outcome", help="What to sort by."),
    ] = None,
    order: Annotated[
        Literal["desc", "asc"] | None,
        typer.Option("--order", metavar="desc|asc", help="Highest or lowest first."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, max=1000, help="How many calls; default: 100."),
    ] = None,
    command: Annotated[
        Literal["curl", "cli", "python"] | None,
        typer.Option("--as", metavar="curl|cli|python", help="For show: print it as a command."),
    ] = None,
    yes: YesOption = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show the last calls, with what each was given and answered."""
    from mcpyard.cli.commands.calls import CallsRequest
    from mcpyard.cli.commands.calls import calls as show_calls

    filters = {
        "server": server,
        "tool": tool,
        "outcome": outcome,
        "who": who,
        "since": since,
        "until": until,
        "text": text,
        "sort": sort,
        "order": order,
        "limit": limit,
    }
    request = CallsRequest(action, word, filters, command, yes)
    return show_calls(home_folder(home), request, as_json=as_json)
