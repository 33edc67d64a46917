"""Install links of Cursor and VS Code, as buttons in a server's documentation have them.

A link has the name and the configuration of a server: base64 of JSON in those of Cursor, JSON in
those of VS Code. Markdown around links is passed over.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.formats.pasting.command_lines import LineEntry, LineFault
from mcpyard.formats.pasting.command_options import LineRefused, refuse
from mcpyard.formats.pasting.shell_words import shell_commands

_LINK: Final = re.compile(
    r"""(?:cursor://anysphere\.cursor-deeplink/mcp/install
    |vscode(?:-insiders)?:(?://)?mcp/install
    |https?://(?:www\.)?cursor\.com/(?:[a-z-]+/)?install-mcp
    |https?://(?:insiders\.)?vscode\.dev/redirect(?:/mcp/install)?
    )\?[^\s<>"'`)\]]+""",
    re.VERBOSE,
)
_INPUT: Final = re.compile(r"\$\{input:([^${}:]+)\}")
_KNOWN: Final = frozenset({"name", "config", "quality", "inputs", "url"})
_DEEPEST: Final = 2
"""A link may be inside a link, which takes a browser to the program."""


def holds_links(text: str) -> bool:
    """Whether a text has an install link."""
    return _LINK.search(text) is not None


def read_links(text: str) -> Iterator[LineEntry | LineFault]:
    """The servers that the links of a text would add, and the links that cannot be taken."""
    line, position = 1, 0
    taken: set[str] = set()
    for link in _LINK.finditer(text):
        line += text.count("\n", position, link.start())
        position = link.start()
        # Documentation shows the same link as a button and as an address.
        if link[0] in taken:
            continue
        taken.add(link[0])
        try:
            yield _entry(line, link[0])
        except LineRefused as error:
            yield LineFault(line, str(error))


def _entry(line: int, link: str, depth: int = 0) -> LineEntry:
    parts = urlsplit(link)
    if parts.scheme.startswith("vscode"):
        return _of(line, "", _object(_decoded(unquote(parts.query))))
    members = dict(parse_qsl(parts.query))
    if surplus := sorted(members.keys() - _KNOWN):
        refuse(f'the install link has an unknown parameter "{surplus[0][:40]}"')
    if inner := members.get("url"):
        if depth == _DEEPEST or not _LINK.fullmatch(inner):
            refuse("the install link leads to an address that is no install link")
        return _entry(line, inner, depth + 1)
    config = members.get("config") or refuse("the install link has no config")
    is_cursor = "cursor" in f"{parts.scheme}{parts.hostname}"
    raw = _object(_decoded(_from_base64(config) if is_cursor else config))
    return _of(line, members.get("name", ""), raw)


def _of(line: int, name: str, raw: dict[str, object]) -> LineEntry:
    name = name or str(raw.pop("name", ""))
    raw.pop("inputs", None)
    warnings: list[Problem] = []
    entry = {key: _without_inputs(value, key, warnings) for key, value in raw.items()}
    return LineEntry(line, name, _split(entry), tuple(warnings))


def _without_inputs(value: object, field: str, warnings: list[Problem]) -> object:
    """A value with variables in place of what VS Code would ask for."""
    if is_array(value):
        return [_without_inputs(each, field, warnings) for each in value]
    if is_object(value):
        return {
            key: _without_inputs(each, f"{field}.{key}", warnings) for key, each in value.items()
        }
    if not isinstance(value, str):
        return value

    def variable(reference: re.Match[str]) -> str:
        name = re.sub(r"[^A-Za-z0-9]+", "_", reference[1]).strip("_").upper()
        name = name if name and not name[0].isdigit() else f"INPUT_{name}"
        warnings.append(Problem(field, f"is read from mcpyard's environment, as ${{{name}}}"))
        return f"${{{name}}}"

    return _INPUT.sub(variable, value)


def _split(entry: dict[str, object]) -> Mapping[str, object]:
    """An entry whose command is a whole line, in words."""
    command = entry.get("command")
    if not isinstance(command, str) or " " not in command.strip() or entry.get("args"):
        return entry
    words = [word for each in shell_commands(command) for word in each.words]
    return entry | {"command": words[0], "args": words[1:]} if words else entry


def _from_base64(text: str) -> str:
    # A plus that no one encoded arrives as a space.
    plain = text.replace(" ", "+").replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        refuse("the config of the install link is not base64 of a JSON text")


def _decoded(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        refuse("the config of the install link is not JSON")


def _object(value: object) -> dict[str, object]:
    if not is_object(value):
        refuse("the config of the install link is not an object")
    return dict(value)
