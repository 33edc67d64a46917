"""Folders that a command line names: what is wrong with one is said in words, with what to do.

As light as `main`, which needs it for every command.
"""

from pathlib import Path
from typing import Final

import typer

_PROJECT_FILE: Final = ".mcp.json"


def check_project(parameter: typer.CallbackParam, value: Path | None) -> Path | None:
    """The folder of a project, which must be there."""
    if value is None or value.is_dir():
        return value
    from mcpyard.cli.cli_errors import usage

    said = _said(parameter)
    if not value.exists():
        raise usage(f"{said}: there is no folder {value}", "name the folder of a project")
    named = value.name == _PROJECT_FILE
    hint = f"name its folder: {value.parent}" if named else f"name a folder with a {_PROJECT_FILE}"
    raise usage(f"{said}: {value} is a file, not a folder", hint)


def check_home(
    context: typer.Context, parameter: typer.CallbackParam, value: Path | None
) -> Path | None:
    """The folder of a home, which need not be there."""
    if value is None or value.is_dir() or not value.exists():
        return value
    from mcpyard.cli.cli_errors import usage

    source = context.get_parameter_source("home")
    from_variable = source is not None and source.name == "ENVIRONMENT"
    said = str(parameter.envvar) if from_variable else _said(parameter)
    hint = "name a folder for the yard's state; one that is not there is made"
    raise usage(f"{said}: {value} is a file, not a folder", hint)


def _said(parameter: typer.CallbackParam) -> str:
    """What a parameter is called by whoever types it."""
    return parameter.opts[0] if parameter.param_type_name == "option" else "DIR"
