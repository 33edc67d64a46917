"""Where secrets stand in a line of a log or a message: behind names, options and header names.

Every pattern is linear in the text.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mcpyard.domain.definition.secret_names import ANY_REFERENCE, holds_secret, is_literal

_MARKS: Final = (
    *("token", "secret", "pass", "pwd", "cred", "cookie", "auth", "sig", "key", "pat", "jwt"),
    *("bearer", "psk", "otp", "phrase", "-u", "\u5bc6", "\u4ee4", "\u51ed\u8bc1", "\u6191\u8b49"),
)
"""Of these, one is in every text that the patterns match: to look for them costs much less."""

_NAME: Final = re.compile(
    r"""(?<![\w.-])(?P<name>-{0,2}[^\W\d][\w.-]{0,80}+)(?:\\?["'])?
    (?:(?P<equals>=(?!>)|[ ]?:=[ ]?)|\s?=>\s?|[ ]=(?![=>~])[ ]?|\s?[:\uff1a]\s?)
    (?P<quote>(?:\\?["'])?)""",
    re.VERBOSE,
)
_WORD: Final = re.compile(r"""[^\s"',;&\\\uff0c\uff1b\u3002]++""")
_IN_QUOTES: Final = {
    '"': re.compile(r'(?s)(?>(?:[^"\\]++|\\.)+)(?=")'),
    "'": re.compile(r"(?s)(?>(?:[^'\\]++|\\.)+)(?=')"),
    '\\"': re.compile(r'[^"\\]++(?=\\")'),
    "\\'": re.compile(r"[^'\\]++(?=\\')"),
}
_LONGEST_IN_QUOTES: Final = 4096
_DECIDES: Final = 64
"""Characters of a value that tell whether it is one."""

_LEAST_UNQUOTED: Final = 6
"""Characters after a colon; what is shorter, or has no digit, is a word such as `expired`."""

_OPTION: Final = re.compile(
    r"""(?<![\w.-])(?P<name>--[A-Za-z][\w.-]{0,80}+)\s{1,4}
    (?P<value>"[^"]{1,4096}"|'[^']{1,4096}'|[^\s-]\S*+)""",
    re.VERBOSE,
)
_IN_LIST: Final = re.compile(
    r"""(?P<quote>\\?["'])(?P<name>--?[A-Za-z][\w.-]{0,80}+)(?P=quote)\s?,\s?(?P=quote)
    (?P<value>(?!-)[^"'\\]{1,4096}+)""",
    re.VERBOSE,
)
"""An option and its value among the arguments of a command, as programs print them."""

_AUTHORIZATION: Final = re.compile(
    r"""(?i)\bauthorization(?:\\?["'])?\s{0,4}[:=\uff1a]\s{0,4}(?:\\?["'])?
    (?:bearer|basic|digest|token|api[-_]?key|key|negotiate|ssws|hawk)\s{1,4}
    (?P<value>[^\s"'\\,;]++)""",
    re.VERBOSE,
)
_COOKIE: Final = re.compile(
    r"""(?i)\b(?:set-)?cookie(?:\\?["'])?[:\uff1a]\s{0,4}(?:\\?["'])?
    (?P<value>[^\s"'=;,\\]++=[^\r\n"'\\]++)""",
    re.VERBOSE,
)


def named_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where each secret begins and ends that stands behind its name, in order."""
    searched = 0
    while match := _NAME.search(text, searched):
        searched = match.end()
        if holds_secret(match["name"]) and (end := _end_of_value(text, match)):
            yield searched, end
            searched = end


def header_secrets(text: str) -> Iterator[tuple[int, int]]:
    """The same of those in headers of a request or an answer."""
    lowered = text.lower()
    for mark, pattern in (("authorization", _AUTHORIZATION), ("cookie", _COOKIE)):
        if mark in lowered:
            yield from _literal_values(pattern.finditer(text))


def option_secrets(text: str) -> Iterator[tuple[int, int]]:
    """The same of those behind an option of a command."""
    for pattern in (_OPTION, _IN_LIST):
        named = (match for match in pattern.finditer(text) if holds_secret(match["name"]))
        yield from _literal_values(named)


def may_name_secrets(text: str) -> bool:
    """Whether it is worth to look for secrets behind names."""
    lowered = text.lower()
    return any(mark in lowered for mark in _MARKS)


def _literal_values(matches: Iterable[re.Match[str]]) -> Iterator[tuple[int, int]]:
    return (each.span("value") for each in matches if is_literal(each["value"], ANY_REFERENCE))


def _end_of_value(text: str, name: re.Match[str]) -> int:
    """Where the secret behind a name ends; 0 where there is none."""
    begin, inside = name.end(), _IN_QUOTES.get(name["quote"])
    quoted = inside.match(text, begin, begin + _LONGEST_IN_QUOTES) if inside else None
    # To look at all of a long value behind each of many names would take its square.
    value = quoted or _WORD.match(text, begin, begin + _DECIDES)
    if value is None or not _is_secret(name, value.group()):
        return 0
    return (quoted or _WORD.match(text, begin) or value).end()


def _is_secret(name: re.Match[str], value: str) -> bool:
    if not is_literal(value, ANY_REFERENCE):
        return False
    is_header = name["name"][:2] in {"x-", "X-"}
    marked = name["equals"] or name["quote"] or is_header
    return bool(marked) or (len(value) >= _LEAST_UNQUOTED and any(map(str.isdigit, value)))
