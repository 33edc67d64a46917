"""CodeBuddy Code: of the three files that can hold the user's servers only one is read."""

from dataclasses import replace
from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    PROJECT,
    Client,
    ClientScope,
    FileFormat,
    Location,
    project_file,
)
from mcpyard.formats.presets import TYPED
from mcpyard.formats.provenance import read_in
from mcpyard.formats.reference_syntax import ReferenceSyntax

_OLDEST: Final = "{home}/.codebuddy.json"
_UPPER: Final = "[A-Z_][A-Z0-9_]*"

CLIENT: Final = Client(
    id="codebuddy",
    title="CodeBuddy Code",
    scopes=(
        ClientScope(
            "user",
            Location(
                (_OLDEST, "{home}/.codebuddy/mcp.json", "{home}/.codebuddy/.mcp.json"), alone=True
            ),
            switch=NOWHERE,
        ),
        project_file("{project}/.mcp.json", switch=NOWHERE),
        ClientScope(
            "local",
            Location((_OLDEST,)),
            above=("projects", PROJECT),
            switch=NOWHERE,
            hides=("user", "project"),
        ),
    ),
    shapes=(replace(TYPED, others=frozenset({"description"})),),
    format=FileFormat.JSONC,
    dialect=ReferenceSyntax(
        rf"\$\{{(?P<name>{_UPPER})(?::-(?P<default>[^}}]*))?\}}", "${{{}}}", "${{{}:-{}}}"
    ),
    provenance=read_in("2.117.0"),
)
