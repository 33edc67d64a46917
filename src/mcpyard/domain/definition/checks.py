"""What a string must be to be used as a name, an argument, a variable, a header or an address.

Each check returns a sentence about what is wrong, or None. They are used twice: on a definition as
it is written, and on what it expands to, since a variable can hold anything.
"""

import re
import unicodedata
from typing import Final
from urllib.parse import urlsplit

MAX_NAME: Final = 255
"""Long enough for any real name, short enough for a card, a URL and a log line."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Overrides and isolates reorder what stands next to them, so that one name can look like another.
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")


def name_fault(name: str) -> str | None:
    """What keeps a string from being a server's name."""
    if not name.strip():
        return "must not be empty"
    if len(name) > MAX_NAME:
        return f"is {len(name)} characters long; {MAX_NAME} are allowed"
    if name != name.strip():
        return "must not begin or end with white space"
    if has_control(name):
        return "contains a control character"
    if _UUID.fullmatch(name):
        return "looks like an id; mcpyard assigns ids itself"
    return text_fault(name)


def has_control(text: str) -> bool:
    """Whether some character of a text is not seen, or changes how those beside it look."""
    return bool(_BIDI.search(text)) or any(unicodedata.category(each) == "Cc" for each in text)


def text_fault(text: str) -> str | None:
    """What keeps a string from being handed to a process."""
    if "\0" in text:
        return "contains a NUL character, which cannot be passed to a process"
    if _SURROGATE.search(text):
        return "contains invalid Unicode (a lone surrogate)"
    return None


def variable_fault(name: str) -> str | None:
    """What keeps a string from being the name of an environment variable."""
    if not name:
        return "the name of a variable must not be empty"
    if "=" in name:
        return 'the name of a variable must not contain "="'
    return text_fault(name)


def header_fault(name: str, value: str) -> str | None:
    """What keeps a pair from being an HTTP header."""
    if not _HEADER_NAME.fullmatch(name):
        return "is not a header name"
    if "\r" in value or "\n" in value:
        return "must not contain a line break"
    return text_fault(value)


def url_fault(url: str) -> str | None:
    """What keeps a string from being a server's address."""
    if any(each.isspace() for each in url) or text_fault(url):
        return "must not contain white space or control characters"
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  a wrong port shows only when it is asked for
    except ValueError as error:
        return f"is not a valid URL: {error}"
    if parts.scheme not in {"http", "https"}:
        return "must begin with http:// or https://"
    if not parts.hostname:
        return "has no host name"
    return None
