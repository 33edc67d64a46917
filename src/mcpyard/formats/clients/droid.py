"""Droid: an address without a type is taken for a command.

References are replaced in the environment and the headers of a server, not in its command, its
arguments and its address; `cwd` is not used.
"""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import REMOTE_WAYS, Client, Field, FileFormat, project_file, user_file
from mcpyard.formats.presets import TYPED, with_fields
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import BRACES

CLIENT: Final = Client(
    id="droid",
    title="Droid",
    aliases=("factory",),
    scopes=(user_file("{home}/.factory/mcp.json"), project_file("{project}/.factory/mcp.json")),
    shapes=(
        replace(
            with_fields(TYPED, {Field.ENABLED: "disabled"}),
            type_aliases={},
            type_needed=REMOTE_WAYS,
        ),
    ),
    format=FileFormat.JSONC,
    dialect=BRACES,
    literal_fields=frozenset({Field.COMMAND, Field.ARGS, Field.URL}),
    provenance=ran("0.215.0"),
)
