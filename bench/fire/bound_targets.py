"""What must stay cheap however long the input is: each target takes dice, and raises if it is not.

The inputs are one short piece repeated to a length at which work that grows with its square takes
minutes, so that the time limit of a test or of a round ends it. An answer, or one of our errors,
must come of all of them.
"""

import random
from collections.abc import Callable
from itertools import islice
from uuid import UUID

from mcpyard.catalog.names import MAX_NAME, ToolKey, assign
from mcpyard.catalog.ranking import Index, ToolText
from mcpyard.catalog.validators import compile_validator
from mcpyard.cli.daemon.logfile import Redactor
from mcpyard.domain.definition.expand import BadReference, expand
from mcpyard.domain.definition.secret_names import is_literal
from mcpyard.domain.definition.secret_text import shown_url
from mcpyard.domain.errors import DocumentBroken, InputError
from mcpyard.formats.copying.references import parts, translate
from mcpyard.formats.editors import jsonc_document, toml
from mcpyard.formats.pasting.snippets import parse_snippet
from mcpyard.formats.registry import CLIENTS
from mcpyard.web.filters import inert
from mcpyard.web.server_screens.changing import difference
from mcpyard.wire.framer import KEPT, LineFramer
from mcpyard.wire.jsonrpc import find_id
from mcpyard.wire.remote.eventstream import EventParser
from mcpyard.wire.remote.http_errors import Challenge
from mcpyard.wire.remote.request_headers import header_value
from mcpyard.yard.masking import is_secret
from mcpyard.yard.name_patterns import fits

Dice = random.Random

LENGTH = 20_000
"""Characters of an input; the square of it is too much for any round."""

UNITS = (
    *("a", "A1_", "中", " ", "\n", "\t", "=", "?", "&", "://", ":", "@", "#", ".", "*", "[", "]"),
    *(
        "${",
        "${a:-",
        "{env:",
        "}",
        "$",
        "$A",
        "$${",
        "{",
        '"',
        "\\",
        "'",
        "/*",
        "//",
        "\x1b[",
        "\x1b]",
    ),
    *("key", "?key=", "&token=x", "://a:b@", "a=", 'a="', "scope ", "bearer ", "0", "9", "-", "_"),
    *("a.", "a=1\n", "[a]\n", "[1,", '{"a":', "a://", "-e A=b ", "0;", "\r", "data: x\n", "x\n"),
)
CONTEXTS = (
    *(
        ("", ""),
        ("http://h/?", ""),
        ("a=", "\n"),
        ("[", "]"),
        ('{"a": ', "}"),
        ("claude mcp add ", ""),
    ),
    *(("${", "}"), ("x = 1\n", ""), ('a = "', '"'), ("\x1b[", "m"), ("Bearer ", " x")),
)
TWICE = 0.05
DIALECTS = tuple({each.dialect.pattern: each.dialect for each in CLIENTS}.values())


def hostile(dice: Dice, length: int = LENGTH) -> str:
    """One or two pieces, repeated to a length."""
    unit = "".join(dice.choices(UNITS, k=dice.randrange(1, 3)))
    before, after = dice.choice(CONTEXTS)
    return f"{before}{unit * (length // len(unit))}{after}"


def long_addresses(dice: Dice) -> None:
    """Masking, in an address or in a line of the log, looks at a character a few times only."""
    shown_url(text := hostile(dice))
    Redactor()(text)


def long_values(dice: Dice) -> None:
    """Whether a value is a reference or a secret."""
    is_literal(text := hostile(dice))
    is_secret(text)


def long_references(dice: Dice) -> None:
    """References in every dialect, and from one into another."""
    text, one, other = hostile(dice), dice.choice(DIALECTS), dice.choice(DIALECTS)
    assert parts(text, one), text[:40]
    translate(text, one, other)
    try:
        expand(text, {}.get)
    except BadReference:
        return


def long_headers(dice: Dice) -> None:
    """What a server asks for in a header, and what is sent in one."""
    challenge = Challenge.read([text := hostile(dice)])
    Challenge(text, "", "x", "insufficient_scope").widened(challenge.scope)
    header_value(text)


def long_lines(dice: Dice) -> None:
    """Lines and events out of a stream, the id of a line that was too long, and a line of a log."""
    text = hostile(dice)
    data = text.encode()
    LineFramer(LENGTH // 2).feed(data)
    EventParser(LENGTH // 2).feed(data)
    find_id(data[:KEPT], data[-KEPT:])
    inert(text)


def long_documents(dice: Dice) -> None:
    """Files and what is pasted."""
    text = hostile(dice)
    for read in (jsonc_document.parse, toml.parse, parse_snippet):
        try:
            read(text)
        except (DocumentBroken, InputError):
            continue


def long_differences(dice: Dice) -> None:
    """What a change does to a definition, line by line."""
    one, other = (dice.choices(("a", "b", "c", "{", "}"), k=1_000) for _ in range(2))
    difference("\n".join(one), "\n".join(other))


def long_names(dice: Dice) -> None:
    """Names of tools, patterns for them, and a search over them."""
    text = hostile(dice)
    (name,) = assign([ToolKey(UUID(int=1), text, text)], {}).values()
    assert len(name) <= MAX_NAME
    fits(text[:255], hostile(dice))
    Index([ToolText(text, text, text)] * 20).rank(hostile(dice))


def long_schemas(dice: Dice) -> None:
    """A schema is compiled, or costs its tool the check."""
    text = hostile(dice, 2_000)
    schema: dict[str, object] = {"pattern": text, "properties": {text: {"$ref": f"#/{text}"}}}
    for _ in range(dice.randrange(80)):
        schema = {dice.choice(("not", "items", "if")): schema, "anyOf": [{"not": {}}] * 20}
    compile_validator(schema)


def hostile_unions(dice: Dice) -> None:
    """Unions in each other, and arguments that fit none of them, or are left to the server."""
    names = [f"d{number}" for number in range(dice.randrange(1, 30))]
    references = [{"$ref": f"#/$defs/{name}"} for name in names]

    def part() -> dict[str, object]:
        branches = [
            {dice.choice(("properties", "patternProperties")): {"a": dice.choice(references)}}
            | dice.choice(({}, {"required": ["a"]}, {"unevaluatedProperties": False}))
            for _ in range(dice.randrange(1, 50))
        ]
        return {dice.choice(("anyOf", "oneOf", "allOf")): branches, "type": "object"}

    schema = {"$defs": {name: part() for name in names}, **dice.choice(references)}
    value: object = 1
    for _ in range(dice.randrange(1, 120)):
        value = {"a": value, "b": [value] if dice.random() < TWICE else 1}
    compile_validator(schema).check(value)


def hostile_numbers(dice: Dice) -> None:
    """Numbers that are slow to compare, named by a schema or held by arguments, or both."""

    def number() -> float:
        return dice.choice((dice.randrange(1_000), dice.random(), 10**30, 1e300))

    count = 10 ** dice.randrange(1, 5)
    named = [number() for _ in range(count)]
    bounds = ({each: value} for value in named for each in ("const", "multipleOf", "minimum"))
    union = dice.choice(({"enum": named}, {"anyOf": [*islice(bounds, 500), {}]}))
    compile_validator({"items": union}).check([number() for _ in range(100_000 // count)])


TARGETS: dict[str, Callable[[Dice], None]] = {
    each.__name__.replace("_", " "): each
    for each in (
        long_addresses,
        long_values,
        long_references,
        long_headers,
        long_lines,
        long_documents,
        long_differences,
        long_names,
        long_schemas,
        hostile_unions,
        hostile_numbers,
    )
}
