"""Checks of the folders and files in options.

As light as `main`, which needs it for every command.
"""

from pathlib import Path
from typing import Final

import typer

_PROJECT_FILE: Final = ".mcp.json"


def check_project(parameter: typer.CallbackParam, value: Path | None) -> Path | None:
    """The folder of a project, which must exist."""
    if value is None or value.is_dir():
        return value
    from mcpyard.cli.cli_errors import usage

    option = _option(parameter)
    if not value.exists():
        raise usage(f"{option}: folder not found: {value}", "use the folder of a project")
    is_project_file = value.name == _PROJECT_FILE
    folder = value.parent if is_project_file else f"a folder with a {_PROJECT_FILE}"
    hint = f"use its folder: {folder}" if is_project_file else f"use {folder}"
    raise usage(f"{option}: {value} is a file, not a folder", hint)


def check_home(
    context: typer.Context, parameter: typer.CallbackParam, value: Path | None
) -> Path | None:
    """The home folder, which need not exist."""
    if value is None or value.is_dir() or not value.exists():
        return value
    from mcpyard.cli.cli_errors import usage

    source = context.get_parameter_source("home")
    from_variable = source is not None and source.name == "ENVIRONMENT"
    option = str(parameter.envvar) if from_variable else _option(parameter)
    hint = "use a folder for the state of mcpyard; it is created if it does not exist"
    raise usage(f"{option}: {value} is a file, not a folder", hint)


def check_cluster_file(parameter: typer.CallbackParam, value: Path | None) -> Path | None:
    """The file with the address of a database; an address itself is a secret and not repeated."""
    if value is None or value.is_file():
        return value
    from mcpyard.cli.cli_errors import usage

    option, text = _option(parameter), str(value)
    # A path has one slash where the address had two.
    if ":/" in text or "=" in text:
        hint = "set MCPYARD_CLUSTER to the address, or write it to a file and name that"
        raise usage(f"{option} takes a file, not the address of a database", hint)
    reason = "is a folder, not a file" if value.is_dir() else "does not exist"
    raise usage(f"{option}: {text} {reason}", "use a file with the address of the database")


def _option(parameter: typer.CallbackParam) -> str:
    """The name of a parameter on the command line."""
    return parameter.opts[0] if parameter.param_type_name == "option" else "DIR"
