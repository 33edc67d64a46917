"""Auggie: servers among its other settings, in three files of which the later counts.

A command is joined with its arguments and run with a shell, after references were replaced. A
server with a reference to a variable that is not set is not started.
"""

from typing import Final

from mcpyard.formats.facts import (
    Client,
    ClientScope,
    Field,
    FileFormat,
    Location,
    project_file,
    user_file,
)
from mcpyard.formats.presets import TYPED, with_fields
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import VARIABLE, ReferenceSyntax

CLIENT: Final = Client(
    id="auggie",
    title="Auggie",
    aliases=("augment",),
    scopes=(
        user_file("{home}/.augment/settings.json"),
        project_file("{project}/.augment/settings.json"),
        ClientScope(
            "local",
            Location(("{project}/.augment/settings.local.json",)),
            hides=("user", "project"),
        ),
    ),
    shapes=(with_fields(TYPED, {Field.ENABLED: "disabled"}),),
    format=FileFormat.JSONC,
    dialect=ReferenceSyntax(
        r"\\(?P<literal>\$\{)|\$\{(?:augmentToken|workspaceFolder)\}"
        rf"|\$\{{(?P<name>{VARIABLE})(?::-(?P<default>[^}}]*))?\}}",
        "${{{}}}",
        "${{{}:-{}}}",
        escapes=(("${", "\\${"),),
    ),
    by_shell=True,
    provenance=ran("0.36.0"),
)
