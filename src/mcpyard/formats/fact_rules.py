"""What the facts of a client must agree on, whoever wrote them."""

import re
import string
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from msgspec import structs

from mcpyard.domain.errors import Problem
from mcpyard.formats.entries import field_of
from mcpyard.formats.facts import (
    OPPOSITE,
    Client,
    ClientScope,
    EntrySchema,
    EntryTransport,
    Field,
    Location,
    SwitchKind,
)
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.provenance import Evidence

_ID: Final = re.compile(r"[a-z][a-z0-9-]*")
_FOLDERS: Final = frozenset({"home", "project", "config", "support"})


def fact_problems(client: Client) -> list[Problem]:
    """What contradicts itself in the facts of a client, by the names of the facts."""
    return [
        *_client_problems(client),
        *(each for index, _ in enumerate(client.scopes) for each in _scope_problems(client, index)),
        *(each for index, _ in enumerate(client.shapes) for each in _shape_problems(client, index)),
    ]


def _client_problems(client: Client) -> Iterator[Problem]:
    for index, word in enumerate((client.id, *client.aliases)):
        if not _ID.fullmatch(word):
            field = f"aliases[{index - 1}]" if index else "id"
            yield Problem(field, "must be lower-case letters, digits and -, with a letter first")
    if not client.title.strip():
        yield Problem("title", "must not be empty")
    for field in ("scopes", "shapes"):
        if not getattr(client, field):
            yield Problem(field, "must not be empty")
    yield from _provenance_problems(client)
    try:
        re.compile(client.names.pattern)
        re.compile(client.dialect.pattern)
    except re.error as error:
        yield Problem("names.pattern", f"is not a regular expression: {error}")


def _provenance_problems(client: Client) -> Iterator[Problem]:
    every = [("", client.provenance)] + [
        (f"scopes[{index}].", scope.provenance) for index, scope in enumerate(client.scopes)
    ]
    for prefix, provenance in every:
        named = provenance and provenance.evidence in {Evidence.RAN, Evidence.SOURCE}
        if provenance and named and not provenance.version:
            field = f"{prefix}provenance.version"
            yield Problem(field, f'is required if evidence is "{provenance.evidence}"')


def _scope_problems(client: Client, index: int) -> Iterator[Problem]:
    scope, at = client.scopes[index], f"scopes[{index}]"
    names = [each.name for each in client.scopes]
    if not _ID.fullmatch(scope.name):
        yield Problem(f"{at}.name", "must be lower-case letters, digits and -, with a letter first")
    elif scope.name in names[:index]:
        yield Problem(f"{at}.name", f'"{scope.name}" is used twice')
    for hidden in scope.hides:
        if hidden not in names:
            yield Problem(f"{at}.hides", f'there is no scope "{hidden}"')
    if scope.location:
        yield from _location_problems(scope.location, f"{at}.location")
    if scope.switch.file:
        yield from _location_problems(scope.switch.file, f"{at}.switch.file")
    if scope.reading:
        yield from _reading_problems(client, scope, at)
    else:
        yield from _switch_problems(client, scope, at)


def _reading_problems(client: Client, scope: ClientScope, at: str) -> Iterator[Problem]:
    """Problems of a file that is read in another way, as of a client that reads only that one."""
    alone = replace(ClientScopeRef(client, scope).client, scopes=(replace(scope, reading=None),))
    yield from _switch_problems(alone, scope, at)
    for index, _ in enumerate(alone.shapes):
        for problem in _shape_problems(alone, index):
            yield structs.replace(problem, field=f"{at}.reading.{problem.field}")


def _switch_problems(client: Client, scope: ClientScope, at: str) -> Iterator[Problem]:
    kind = scope.switch.kind
    worded = all(Field.ENABLED in shape.field_names for shape in client.shapes)
    if kind is SwitchKind.ENTRY and not worded:
        message = 'is "entry", but the shapes have no word for "enabled"; write "none"'
        yield Problem(f"{at}.switch.kind", message)
    if kind is not SwitchKind.ENTRY and any(
        Field.ENABLED in shape.field_names for shape in client.shapes
    ):
        message = f'is "{kind}", but a shape has a word for "enabled"; write "entry"'
        yield Problem(f"{at}.switch.kind", message)
    if kind is SwitchKind.LIST and not scope.switch.off:
        yield Problem(f"{at}.switch.off", "is required: the path of the list of names")


def _location_problems(location: Location, at: str) -> Iterator[Problem]:
    if not location.templates:
        yield Problem(f"{at}.templates", "must not be empty")
    for index, template in enumerate(location.templates):
        if fault := _template_fault(template, _FOLDERS):
            yield Problem(f"{at}.templates[{index}]", fault)
    for index, template in enumerate(location.moved[1] if location.moved else ()):
        if fault := _template_fault(template, _FOLDERS | {"moved"}):
            yield Problem(f"{at}.moved.templates[{index}]", fault)


def _template_fault(template: str, folders: frozenset[str]) -> str | None:
    try:
        parts = [*string.Formatter().parse(template)]
    except ValueError:
        return "has a brace that is not closed"
    named = [name for _, name, _, _ in parts if name is not None]
    if unknown := [name for name in named if name not in folders]:
        expected = ", ".join(sorted(f"{{{each}}}" for each in folders))
        return f'"{{{unknown[0]}}}" is unknown; expected one of {expected}'
    if not template.startswith(("/", "{")):
        return "must be an absolute path, or begin with a folder such as {home}"
    return None


def _shape_problems(client: Client, index: int) -> Iterator[Problem]:
    shape, at = client.shapes[index], f"shapes[{index}]"
    if Field.COMMAND not in shape.field_names:
        yield Problem(f"{at}.field_names", 'must have a word for "command"')
    if not shape.keys or not all(shape.keys):
        yield Problem(f"{at}.keys", "must name at least one key, and no empty one")
    words = {*shape.field_names.values(), *shape.also}
    for word, unit in shape.units.items():
        if word not in words:
            yield Problem(f"{at}.units", f'"{word}" is not a word of this shape')
        if unit.milliseconds < 1:
            yield Problem(f"{at}.units.{word}.milliseconds", "must be 1 or more")
    yield from _word_problems(shape, at)
    if field_of(OPPOSITE, shape) not in {None, Field.ENABLED}:
        yield Problem(f"{at}.field_names", f'"{OPPOSITE}" can only be the word for "enabled"')
    yield from _type_problems(client, shape, at)


def _word_problems(shape: EntrySchema, at: str) -> Iterator[Problem]:
    """Words that more than one field would be written to: one would overwrite the other."""
    earlier: dict[str, Field] = {}
    for name, word in shape.field_names.items():
        field = f"{at}.field_names.{name}"
        joined = shape.joined and {name, earlier.get(word)} == {Field.COMMAND, Field.ARGS}
        if word in earlier and not joined:
            yield Problem(field, f'"{word}" is the word for "{earlier[word]}" already')
        for other, owner in earlier.items():
            inner, outer = (word, other) if len(word) > len(other) else (other, word)
            if inner.startswith(f"{outer}."):
                of_outer = owner if outer == other else name
                yield Problem(field, f'"{inner}" is inside of "{outer}", the word for "{of_outer}"')
        earlier.setdefault(word, name)


def _type_problems(client: Client, shape: EntrySchema, at: str) -> Iterator[Problem]:
    if shape.types and Field.TYPE not in shape.field_names:
        yield Problem(f"{at}.types", 'needs a word for "type" in field_names')
    if not shape.type_needed <= shape.type_written:
        yield Problem(f"{at}.type_needed", "must be a part of type_written")
    local = shape.types.get(EntryTransport.STDIO)
    for way, word in shape.types.items():
        if way is not EntryTransport.STDIO and word == local:
            yield Problem(f"{at}.types", f'"{word}" stands for "stdio" and for "{way}"')
    if unspoken := set(shape.types) - client.speaks:
        yield Problem(f"{at}.types", f'"{min(unspoken)}" is not among speaks')
