"""The options of `claude mcp add` and the like, and what each says about a server.

One table for all programs: where two have the same option, it means the same.
"""

import re
from enum import Enum, auto
from typing import Final, NoReturn

from mcpyard.domain.errors import Problem

LOCAL: Final = frozenset({"stdio", "local"})
REMOTE: Final = frozenset({"http", "sse", "streamable-http", "streamable_http", "streamableHttp"})

_SCOPES: Final = frozenset({"local", "user", "project", "global", "workspace"})
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER: Final = re.compile(r"[^\s:=-][^\s:=]*[:=](?!//)")
_HEADER_MARK: Final = re.compile(r"[:=]")


class Use(Enum):
    """What an option is for."""

    TRANSPORT = auto()
    URL = auto()
    ENV = auto()
    HEADER = auto()
    BEARER = auto()
    CLIENT_ID = auto()
    CLIENT_SECRET = auto()
    TIMEOUT = auto()
    DESCRIPTION = auto()
    CWD = auto()
    ONLY_TOOLS = auto()
    EXCEPT_TOOLS = auto()
    SCOPE = auto()
    NOTHING = auto()
    NOTHING_FLAG = auto()
    LOST = auto()
    LOST_FLAG = auto()


OPTIONS: Final = {
    "-t": Use.TRANSPORT,
    "--transport": Use.TRANSPORT,
    "--type": Use.TRANSPORT,
    "--url": Use.URL,
    "-e": Use.ENV,
    "--env": Use.ENV,
    "-H": Use.HEADER,
    "--header": Use.HEADER,
    "--bearer-token-env-var": Use.BEARER,
    "--client-id": Use.CLIENT_ID,
    "--oauth-client-id": Use.CLIENT_ID,
    "--client-secret": Use.CLIENT_SECRET,
    "--timeout": Use.TIMEOUT,
    "--description": Use.DESCRIPTION,
    "--cwd": Use.CWD,
    "--tools": Use.ONLY_TOOLS,
    "--include-tools": Use.ONLY_TOOLS,
    "--exclude-tools": Use.EXCEPT_TOOLS,
    "-s": Use.SCOPE,
    "--scope": Use.SCOPE,
    "--config-dir": Use.NOTHING,
    "--home": Use.NOTHING,
    "--wait": Use.NOTHING,
    "--start": Use.NOTHING_FLAG,
    "--no-start": Use.NOTHING_FLAG,
    "--json": Use.NOTHING_FLAG,
    "--show-secrets": Use.NOTHING_FLAG,
    "--callback-port": Use.LOST,
    "--oauth-resource": Use.LOST,
    "--oauth-client-registration": Use.LOST,
    "--trust": Use.LOST_FLAG,
    "--xaa": Use.LOST_FLAG,
}
JSON_OPTIONS: Final = frozenset({"-s", "--scope", "--client-secret"})
"""Those of `add-json`, whose text says the rest."""

_FLAGS: Final = frozenset({Use.CLIENT_SECRET, Use.NOTHING_FLAG, Use.LOST_FLAG})
_REPEATED: Final = {Use.ENV: _VARIABLE, Use.HEADER: _HEADER}


class LineRefused(ValueError):
    """Nothing can be taken from a line; says why."""


def refuse(message: str) -> NoReturn:
    """Take nothing from the line."""
    raise LineRefused(message)


def is_option(word: str) -> bool:
    """Whether a word is an option; a single dash is none."""
    return word.startswith("-") and word != "-"


def short(word: str) -> str:
    """As much of a word as helps to find it."""
    return word if len(word) <= 40 else f"{word[:40]}..."  # noqa: PLR2004


def reference(name: str) -> str:
    """A reference to a variable, or nothing where the name is none of a variable."""
    return f"${{{name}}}" if _NAME.fullmatch(name) else ""


def names_option(word: str) -> bool:
    """Whether a word is one of the options, with or without a value behind `=`."""
    return word.split("=", 1)[0] in OPTIONS


def option_of(word: str) -> str:
    """The option that a word begins with: `--header=X: y` and `-HX` hold their value."""
    return word.split("=", 1)[0] if word.startswith("--") else word[:2]


class Options:
    """What the options of one command say.

    Args:
        many: Whether one `--env` or `--header` may be followed by several values.
        secret: The client secret that was set in the environment of the command.
    """

    def __init__(self, *, many: bool, secret: str = "") -> None:
        self.transport = ""
        self.url = ""
        self.env: dict[str, str] = {}
        self.headers: dict[str, str] = {}
        self.oauth: dict[str, str] = {}
        self.policy: dict[str, object] = {}
        self.warnings: list[Problem] = []
        self._many = many
        self._secret = secret

    def take(self, word: str, rest: list[str]) -> None:
        """Take an option, and what belongs to it from the words that follow."""
        option = option_of(word)
        use = OPTIONS.get(option)
        if use is None:
            refuse(f'the option "{short(option)}" is unknown')
        inside = word.removeprefix(option).removeprefix("=")
        if use in _FLAGS:
            if inside:
                refuse(f"{option} takes no value")
            self._apply(use, option, "")
            return
        self._apply(use, option, inside or next_value(option, rest))
        pattern = _REPEATED.get(use)
        while self._many and pattern and rest and pattern.match(rest[0]):
            self._apply(use, option, rest.pop(0))

    def warn(self, field: str, message: str) -> None:
        """Note what is lost, or not as it was written."""
        self.warnings.append(Problem(field, message))

    def _apply(self, use: Use, option: str, value: str) -> None:
        match use:
            case Use.TRANSPORT | Use.URL | Use.SCOPE:
                self._set_target(use, option, value)
            case Use.ENV | Use.HEADER | Use.BEARER:
                self._set_pair(use, option, value)
            case Use.CLIENT_ID | Use.CLIENT_SECRET:
                self._set_oauth(use, option, value)
            case Use.TIMEOUT | Use.DESCRIPTION | Use.CWD | Use.ONLY_TOOLS | Use.EXCEPT_TOOLS:
                self._set_policy(use, option, value)
            case Use.LOST | Use.LOST_FLAG:
                self._lose(option)
            case _:
                # Where the program keeps its file, or how it prints: nothing about the server.
                pass

    def _set_target(self, use: Use, option: str, value: str) -> None:
        if use is Use.URL:
            self.url = value
        elif use is Use.SCOPE:
            if value not in _SCOPES:
                refuse(f'{option} takes local, user or project, found "{short(value)}"')
        elif value in LOCAL | REMOTE:
            self.transport = value
        else:
            refuse(f'{option} takes stdio, http or sse, found "{short(value)}"')

    def _set_pair(self, use: Use, option: str, value: str) -> None:
        if use is Use.BEARER:
            token = reference(value) or refuse(f"{option} takes the name of a variable")
            self.headers["Authorization"] = f"Bearer {token}"
        elif use is Use.ENV:
            name, mark, content = value.partition("=")
            if not mark or not name:
                refuse(f'{option} takes NAME=VALUE, found "{short(name)}"')
            self.env[name] = content
        else:
            name, *content = _HEADER_MARK.split(value, maxsplit=1)
            if not name.strip() or not "".join(content).strip():
                refuse(f'{option} takes "NAME: VALUE" in quotes, found "{short(name)}"')
            self.headers[name.strip()] = content[0].strip()

    def _set_oauth(self, use: Use, option: str, value: str) -> None:
        if use is Use.CLIENT_ID:
            self.oauth["clientId"] = value
        elif self._secret:
            self.oauth["clientSecret"] = self._secret
        else:
            self.warn(option, "prompts for a secret; set oauth.clientSecret")

    def _set_policy(self, use: Use, option: str, value: str) -> None:
        if use in {Use.DESCRIPTION, Use.CWD}:
            self.policy["cwd" if use is Use.CWD else "description"] = value
        elif use is Use.TIMEOUT:
            if not value.isdecimal():
                refuse(f'{option} takes milliseconds, found "{short(value)}"')
            self.policy["timeout"] = int(value)
        elif use is Use.EXCEPT_TOOLS:
            names = [each.strip() for each in value.split(",") if each.strip()]
            self.policy["tools"] = {each: {"enabled": False} for each in names}
        elif value != "*":
            self._lose(option)

    def _lose(self, option: str) -> None:
        self.warn(option, "not supported by mcpyard: dropped")


def next_value(option: str, rest: list[str]) -> str:
    """The value of an option out of the words that follow it."""
    if not rest or not rest[0] or rest[0] == "--" or names_option(rest[0]):
        refuse(f"{option} needs a value")
    return rest.pop(0)
