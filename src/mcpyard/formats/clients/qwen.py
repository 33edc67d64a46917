"""Qwen Code: an address under `httpUrl` is streamable HTTP, one under `url` is SSE."""

from typing import Final

from mcpyard.formats.facts import (
    NOWHERE,
    USUAL_WORDS,
    Client,
    ClientScope,
    Dialect,
    Field,
    Format,
    Location,
    NameRule,
    Shape,
    Way,
)

_NAME: Final = "[A-Za-z_][A-Za-z0-9_]*"

CLIENT: Final = Client(
    id="qwen",
    title="Qwen Code",
    scopes=(
        ClientScope("user", Location(("{home}/.qwen/settings.json",)), switch=NOWHERE),
        ClientScope("project", Location(("{project}/.qwen/settings.json",)), switch=NOWHERE),
    ),
    shapes=(
        Shape(
            keys=("mcpServers",),
            words={
                **USUAL_WORDS,
                Field.URL: "httpUrl",
                Field.CWD: "cwd",
                Field.CALL_TIMEOUT: "timeout",
                Field.ONLY_TOOLS: "includeTools",
                Field.EXCEPT_TOOLS: "excludeTools",
            },
            also={"url": Field.URL},
            url_ways={"httpUrl": Way.HTTP, "url": Way.SSE},
            versions="0.15",
        ),
    ),
    format=Format.JSONC,
    bom=False,
    dialect=Dialect(
        rf"\$\{{(?P<name>{_NAME})(?::-(?P<default>[^}}]*))?\}}|\$(?P<bare>{_NAME})",
        "${{{}}}",
        "${{{}:-{}}}",
    ),
    names=NameRule(folded=True, says="any text, but not two that differ only in case"),
)
