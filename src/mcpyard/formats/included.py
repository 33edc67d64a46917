"""References of a client's file to other files, without which its program does not read it."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.formats.facts import Client
from mcpyard.formats.locations import ClientFolders
from mcpyard.formats.texts import Text

_COMMENT: Final = "//"


def included_files(
    client: Client, host: ClientFolders, texts: Mapping[str, Text]
) -> tuple[str, ...]:
    """The paths of the files that a client's files refer to."""
    paths = (path for text in texts.values() for path, _ in _references(client, host, text))
    return tuple(dict.fromkeys(paths))


def included_problems(
    client: Client, host: ClientFolders, text: Text, texts: Mapping[str, Text]
) -> tuple[Problem, ...]:
    """The references to files that were looked for and are missing."""
    problems: list[Problem] = []
    for path, place in _references(client, host, text):
        other = texts.get(path)
        if other is not None and other.text is None and other.fault is None:
            message = f"refers to {path}, which does not exist; {client.title} reads no such file"
            problems.append(Problem("", message, place))
    return tuple(problems)


def _references(
    client: Client, host: ClientFolders, text: Text
) -> Iterator[tuple[str, SourceLocation]]:
    if not client.included or text.text is None:
        return
    for match in re.finditer(client.included, text.text):
        start = text.text.rfind("\n", 0, match.start()) + 1
        if text.text[start : match.start()].lstrip().startswith(_COMMENT):
            continue
        line = text.text.count("\n", 0, start) + 1
        place = SourceLocation(text.path, line, match.start() - start + 1)
        yield _absolute(match["path"], text.path, host), place


def _absolute(path: str, file: str, host: ClientFolders) -> str:
    if path.startswith("~/"):
        return f"{host.home}{path[1:]}"
    if path.startswith("/"):
        return path
    return f"{file.rpartition('/')[0]}/{path.removeprefix('./')}"
