"""Reads the words of `mcpyard up` without the library for command lines, which is slow to load.

What runs all day is started by services and by other programs, with few and correct words. Only
those are read here. Everything else, such as a request for help or a mistake, goes the usual way,
which also says what is wrong.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, TypedDict

_HOME_VARIABLE: Final = "MCPYARD_HOME"
_COMPLETION_VARIABLE: Final = "_MCPYARD_COMPLETE"
_LAST_PORT: Final = 65_535

FLAGS: Final = {
    "--open": "open_page",
    "--json": "as_json",
    "--strict": "strict",
    "--trust-folder": "trust_folder",
    "--sync": "sync",
    "--insecure": "insecure",
    "--substitute": "substitute",
    "--parent-pipe": "parent_pipe",
}
TEXTS: Final = {
    "--project": "project",
    "--host": "host",
    "--port": "port",
    "--home": "home",
    "--idle-exit": "idle_exit",
    "--log-level": "log_level",
}
DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8712
LEVELS: Final = ("debug", "info", "warning", "error")


class UpArguments(TypedDict, total=False):
    """What the options of `up` say; those that are not used are left out."""

    project: Path | None
    open_page: bool
    host: str
    port: int
    home: Path | None
    as_json: bool
    strict: bool
    trust_folder: bool
    sync: bool
    allow_host: list[str] | None
    tls_cert: Path | None
    tls_key: Path | None
    insecure: bool
    idle_exit: str | None
    log_level: Literal["debug", "info", "warning", "error"]
    substitute: bool
    parent_pipe: bool
    node: str | None
    cluster: Path | None
    node_listen: str | None
    node_address: str | None
    node_certs: Path | None
    label: list[str] | None
    capacity: int | None
    node_ttl: float | None
    replace: bool


class _OtherWords(Exception):
    """The words are not as plain as is read here."""


def read_up(words: Sequence[str]) -> UpArguments | None:
    """The arguments of a plain `up`; None for everything else."""
    if not words or words[0] != "up" or _COMPLETION_VARIABLE in os.environ:
        return None
    arguments = UpArguments()
    if home := os.environ.get(_HOME_VARIABLE):
        arguments["home"] = Path(home)
    try:
        rest = iter(words[1:])
        for word in rest:
            _take(arguments, word, rest)
        _check_folders(arguments)
    except (_OtherWords, ValueError):
        return None
    return arguments


def _take(arguments: UpArguments, word: str, rest: Iterator[str]) -> None:
    if flag := FLAGS.get(word):
        arguments[flag] = True
        return
    option, is_joined, joined = word.partition("=")
    value = joined if is_joined else next(rest, "")
    name = TEXTS.get(option)
    if name is None or not value or value.startswith("-"):
        raise _OtherWords
    match name:
        case "port":
            arguments["port"] = _port(value)
        case "project" | "home":
            arguments[name] = Path(value)
        case "log_level" if value not in LEVELS:
            raise _OtherWords
        case _:
            arguments[name] = value


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _LAST_PORT:
        raise _OtherWords
    return int(text)


def _check_folders(arguments: UpArguments) -> None:
    project, home = arguments.get("project"), arguments.get("home")
    if (project and not project.is_dir()) or (home and home.exists() and not home.is_dir()):
        raise _OtherWords
