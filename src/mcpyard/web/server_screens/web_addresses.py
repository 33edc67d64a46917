"""The host that a browser opens an address at, or none where it may read the address otherwise.

A browser takes a backslash for a slash, leaves out line ends and decodes `%` in a host. A person
who is shown one host must not come to another.
"""

import re
import unicodedata
from typing import Final
from urllib.parse import urlsplit

_WEB: Final = frozenset({"http", "https"})
_READ_OTHERWISE: Final = re.compile(r"[\\\s\x00-\x1f\x7f]")
_HOST: Final = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_LONGEST: Final = 253


def host_to_open(url: str) -> str:
    """The host of the address of a web page, in the letters in which it is asked for."""
    if _READ_OTHERWISE.search(url):
        return ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = ".".join(map(_asked_for, (parts.hostname or "").split(".")))
    is_web = parts.scheme in _WEB and len(host) <= _LONGEST and _HOST.fullmatch(host)
    return host if is_web else ""


def _asked_for(label: str) -> str:
    """A part of a host in ASCII, so that no letter passes for one that it resembles."""
    if label.isascii():
        return label
    plain = unicodedata.normalize("NFKC", label).lower()
    return plain if plain.isascii() else f"xn--{plain.encode('punycode').decode()}"
