"""What hostile input must never break: each target takes dice, and raises when a promise fails.

A promise is one of: nothing but the documented error comes out; what was written reads back; the
same bytes mean the same however they are cut.
"""

import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

from mcpyard.catalog.names import MAX_NAME, ToolKey, assign
from mcpyard.catalog.offered_names import offer
from mcpyard.domain.definition.expand import BadReference, expand
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import DocumentBroken, EditRefused, InputError
from mcpyard.domain.model import Scope
from mcpyard.formats import mcp_json
from mcpyard.formats.editors import jsonc_document, toml
from mcpyard.formats.editors.jsonc import remove_member, set_member
from mcpyard.formats.editors.jsonc_values import same as same_json
from mcpyard.formats.editors.toml_values import same as same_toml
from mcpyard.formats.pasting.snippets import parse_snippet
from mcpyard.wire.framer import LineFramer
from mcpyard.wire.remote.eventstream import EventParser

Dice = random.Random

NEW = "a new one"
"""A name that no sample has."""

JSONC = (
    '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "p"]}, // x\n /* y */ "b": {}}}',
    '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"é\\u00e9": [1, 2.5e3, null, true,],\r\n\t},\r\n}\r\n',
    '{"a": {"b": {"c": [[], {}, ""]}}, "n": -0.0, "big": 123456789012345678901234567890}',
)
TOML = (
    '# c\n[mcp_servers.a]\ncommand = "npx"\nargs = ["-y"] # x\n\n[mcp_servers.a.env]\nK = "v"\n',
    "a.b = 1\r\n[t]\r\nx = {y = [1, 2,], z.w = 07:32:00}\r\n[[l]]\r\n[[l]]\r\nk = '''\n[x]'''\r\n",
    'mcp_servers = {a = {command = "x"}}\nnan = nan\n"d e" = """q\\\n  w"""\n',
)
TEXTS = (
    "claude mcp add a -e K=v -- npx -y p",
    '[mcp_servers.x]\ncommand = "x"',
    '{"command": "x", "url": "y"}',
    'code --add-mcp \'{"name":"x"}\'',
    "https://example.com/mcp",
)
PIECES = (
    *'{}[]",:/*#=.\\$\n\r\t \0\x7f',
    *("${", "$${", ":-", "}", "keyring:", "//", "/*", "*/", "'''", '"""', "[[", "]]", "\r\n"),
    *("\ufeff", "\ud800", "\u2028", "é", "\U0001f680", "1e999", "-0", "9" * 400, "null", "true"),
    *(
        "mcpServers",
        "command",
        "args",
        "env",
        "url",
        "headers",
        "inf",
        "1979-05-27",
        "\\u",
        "x" * 99,
    ),
)
LINES = (
    *(b"data: x", b"data:", b"id: 1", b"id: a\0b", b"event: e", b"retry: 5", b":", b": c", b"data"),
    *(b"retry: " + b"9" * 5000, b"\xff\xfe", b"\xef\xbb\xbf", b"x" * 300, b"", b"", b'{"id":1}'),
)
ENDS = (b"\n", b"\n", b"\r\n", b"\r", b"")


def mangled(dice: Dice, text: str) -> str:
    """A text with a few pieces put in, taken out, doubled or moved."""
    for _ in range(dice.randrange(1, 6)):
        at, to = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        put = dice.choice(PIECES) if dice.random() < 0.7 else text[at:to][:50]
        text = text[:at] + put + text[to if dice.random() < 0.3 else at :]
    return text


def strewn(dice: Dice) -> str:
    """A text of pieces alone."""
    return "".join(dice.choices(PIECES, k=dice.randrange(12)))


def some_text(dice: Dice, samples: tuple[str, ...]) -> str:
    """A text: as it should be, mangled, or of pieces alone."""
    kind = dice.random()
    sample = dice.choice(samples)
    return sample if kind < 0.4 else mangled(dice, sample) if kind < 0.8 else strewn(dice)


def some_bytes(dice: Dice) -> bytes:
    parts = [dice.choice(LINES) + dice.choice(ENDS) for _ in range(dice.randrange(12))]
    return b"".join(parts)


def some_value(dice: Dice, depth: int = 3) -> Any:  # noqa: ANN401  any JSON
    kind = dice.randrange(7 if depth else 5)
    if kind == 5:
        return [some_value(dice, depth - 1) for _ in range(dice.randrange(3))]
    if kind == 6:
        return {strewn(dice): some_value(dice, depth - 1) for _ in range(dice.randrange(3))}
    return (strewn(dice), dice.randrange(-9, 10**20), dice.random(), True, "x")[kind]


def cut(dice: Dice, data: bytes) -> list[bytes]:
    places = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randrange(6)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def framer(dice: Dice) -> None:
    """The same frames however the stream is cut, and never a byte more than the limit held."""
    data, limit = some_bytes(dice), dice.choice((1, 7, 64, 1 << 20))
    whole, parts = LineFramer(limit), LineFramer(limit)
    lines = [event for piece in cut(dice, data) for event in parts.feed(piece)]
    assert whole.feed(data) == lines, (data, limit)
    assert all(len(event) <= limit for event in lines if isinstance(event, bytes)), data


def events(dice: Dice) -> None:
    """The same events however the stream is cut."""
    data, limit = some_bytes(dice) + b"\n\n", dice.choice((16, 1 << 20))
    whole, parts = EventParser(limit), EventParser(limit)
    parsed_events = [event for piece in cut(dice, data) for event in parts.feed(piece)]
    assert whole.feed(data) == parsed_events, (data, limit)
    assert (whole.last_id, whole.retry) == (parts.last_id, parts.retry), data


def json_documents(dice: Dice) -> None:
    """A document is read or refused; what is set is there, and gone again when it is removed."""
    text = some_text(dice, JSONC)
    try:
        before = jsonc_document.parse(text).value
        path, value = (*_way(dice, before), NEW), some_value(dice)
        after = set_member(text, path, value)
        assert same_json(_at(jsonc_document.parse(after).value, path), value), (text, path, value)
        assert remove_member(after, path) == text, (text, path, value)
    except (DocumentBroken, EditRefused):
        return


def toml_documents(dice: Dice) -> None:
    """A document is read or refused; what is set is there, and all else as it was."""
    text = some_text(dice, TOML)
    try:
        before = toml.parse(text).value
        path, value = (*_way(dice, before), NEW), some_value(dice)
        after = toml.parse(toml.set_value(text, path, value)).value
        assert same_toml(_at(after, path), value), (text, path, value)
    except (DocumentBroken, EditRefused):
        return


def project_files(dice: Dice) -> None:
    """A project file is read, with its problems, or refused."""
    try:
        mcp_json.read(some_text(dice, JSONC), Owner(Scope.PROJECT, "p"))
    except DocumentBroken:
        return


def snippets(dice: Dice) -> None:
    """Whatever is pasted is read or refused."""
    try:
        parse_snippet(some_text(dice, (*TEXTS, *JSONC, *TOML)))
    except InputError:
        return


def definitions(dice: Dice) -> None:
    """Any JSON is a definition or is refused with the fields that are wrong."""
    keys = ("command", "args", "env", "url", "headers", "type", "timeout", "cwd", "x", "enabled")
    raw = {dice.choice(keys): some_value(dice) for _ in range(4)} | {"command": "x"}
    reading = None
    try:
        read_definition(raw)
    except InputError as error:
        reading = error
    assert reading is None or reading.problems, raw


def expansion(dice: Dice) -> None:
    """What is put in is never looked at again, and a text without references stays as it is."""
    text = strewn(dice) + dice.choice(("${A}", "${A:-${B}}", "${A:-", "x", "$${A}")) + strewn(dice)
    assert expand("${A}", {"A": text}.get).text == text
    try:
        expanded = expand(text, {"A": "${B}"}.get)
    except BadReference:
        return
    assert "${" in text or expanded.text == text, text
    assert "A" not in expanded.missing, text


def names(dice: Dice) -> None:
    """Exposed names are unlike each other, accepted everywhere, and kept."""
    keys = [
        ToolKey(UUID(int=dice.randrange(3)), strewn(dice) or "s", strewn(dice) or "t")
        for _ in range(dice.randrange(1, 9))
    ]
    assigned = assign(keys, {})
    assert len(set(assigned.values())) == len(assigned), keys
    assert all(len(each) <= MAX_NAME and each.isascii() for each in assigned.values()), keys
    assert (
        assign([*keys, ToolKey(UUID(int=9), "new", "t")], assigned).items() >= assigned.items()
    ), keys
    offered = offer(each.tool for each in keys)
    assert len(set(offered.values())) == len(offered), keys


def _way(dice: Dice, value: Any) -> tuple[str, ...]:  # noqa: ANN401  any JSON
    path: tuple[str, ...] = ()
    while isinstance(value, dict) and value and dice.random() < 0.6:
        step = dice.choice([*value])
        path, value = (*path, step), value[step]
    return path


def _at(value: Any, path: tuple[str, ...]) -> Any:  # noqa: ANN401  any JSON
    for step in path:
        value = value[step]
    return value


TARGETS: dict[str, Callable[[Dice], None]] = {
    each.__name__.replace("_", " "): each
    for each in (
        framer,
        events,
        json_documents,
        toml_documents,
        project_files,
        snippets,
        definitions,
        expansion,
        names,
    )
}
