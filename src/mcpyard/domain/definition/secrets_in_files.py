"""Where secrets stand in files of settings (XML, YAML, .netrc) and behind `-u` of a command.

What such a file holds is often read by a tool as it stands. Every pattern is linear in the text.
"""

import re
from collections.abc import Iterator
from typing import Final

from mcpyard.domain.definition.secret_names import ANY_REFERENCE, holds_secret, is_literal

_ELEMENT: Final = re.compile(
    r"""<(?P<name>[A-Za-z_][\w.:-]{0,80}+)(?:\s[^<>]{0,200}+)?>(?P<value>[^<>]{1,4096}+)</"""
)
_ATTRIBUTES: Final = re.compile(
    r"""\b(?:key|name)=["'](?P<name>[\w.:-]{1,80}+)["']\s{1,4}value=["'](?P<value>[^"'<>]{1,4096}+)"""
)
_YAML: Final = re.compile(
    r"""(?m)^[ \t+-]{0,80}+(?P<name>[^\W\d][\w.-]{0,80}+):[ \t]{1,4}
    (?P<value>[^\s"'#|>&*!%@`{\[,]\S{7,}+)(?=[ \t\r]{0,80}(?:$|\#))""",
    re.VERBOSE,
)
_NETRC: Final = re.compile(r"(?i)\blogin\s{1,8}\S{1,200}\s{1,8}password\s{1,8}(?P<value>\S++)")
_USER: Final = re.compile(
    r"""(?<![\w-])(?:-u|--user)[ \t=]{1,4}["']?(?P<name>[^\s:/"']{1,80}+):
    (?!//|\d++(?![^\s"']))(?P<value>[^\s"']++)""",
    re.VERBOSE,
)
_STATES: Final = frozenset(
    {"required", "optional", "disabled", "rejected", "accepted", "undefined", "unchanged"}
)
"""Words of eight letters or more that tell of a secret, where there is none."""


def file_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where each secret begins and ends that a file of settings holds by its name."""
    for mark, pattern in (("</", _ELEMENT), ("value=", _ATTRIBUTES), (": ", _YAML)):
        if mark in text:
            yield from (each.span("value") for each in pattern.finditer(text) if _is_secret(each))
    if "login" in text.lower():
        yield from (each.span("value") for each in _NETRC.finditer(text))
    if "-u" in text:
        yield from (each.span("value") for each in _USER.finditer(text) if _is_password(each))


def _is_secret(match: re.Match[str]) -> bool:
    name, value = match["name"], match["value"].strip()
    # The keys of lists of settings are called so, too.
    is_named = name.lower() != "key" and holds_secret(name)
    return is_named and bool(value) and value not in _STATES and is_literal(value, ANY_REFERENCE)


def _is_password(match: re.Match[str]) -> bool:
    # A user and a group, as containers have them, often bear one name.
    return match["name"] != match["value"] and is_literal(match["value"], ANY_REFERENCE)
