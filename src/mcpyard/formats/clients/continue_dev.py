"""Continue: a list of servers, each with its name.

One bad entry keeps it from reading its configuration at all. An element with `uses` is a block that
is fetched from elsewhere. Headers stand in `requestOptions`, and
a reference names a secret. There is no switch in a file.
"""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    REMOTE_WAYS,
    Client,
    ClientScope,
    EntrySchema,
    Field,
    FileFormat,
    Location,
    types_with_http,
)
from mcpyard.formats.provenance import ran
from mcpyard.formats.reference_syntax import VARIABLE, ReferenceSyntax

CLIENT: Final = Client(
    id="continue",
    title="Continue",
    scopes=(
        ClientScope(
            "user",
            Location(
                ("{home}/.continue/config.yaml",),
                ("CONTINUE_GLOBAL_DIR", ("{moved}/config.yaml",)),
            ),
            switch=NOWHERE,
        ),
    ),
    shapes=(
        EntrySchema(
            name_key="name",
            elsewhere_key="uses",
            field_names={
                Field.TYPE: "type",
                Field.COMMAND: "command",
                Field.ARGS: "args",
                Field.ENV: "env",
                Field.CWD: "cwd",
                Field.URL: "url",
                Field.HEADERS: "requestOptions.headers",
                Field.START_TIMEOUT: "connectionTimeout",
            },
            types=types_with_http("streamable-http"),
            type_written=REMOTE_WAYS,
            others=frozenset({"apiKey", "faviconUrl", "serverName", "sourceFile", "sourceSlug"}),
        ),
    ),
    format=FileFormat.YAML,
    fragile=True,
    dialect=ReferenceSyntax(
        rf"\$\{{\{{\s*(?:secrets\.(?P<name>{VARIABLE})|[^}}\s]+)\s*\}}\}}",
        "${{{{ secrets.{} }}}}",
    ),
    provenance=ran("1.5.47"),
)
