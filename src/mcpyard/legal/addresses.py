"""The addresses of resources.

Letters of any script stay as they are, which is a third of the size and what a reader understands;
only what would end a part of an address is escaped. A client may escape more.
"""

import re
from typing import Final
from urllib.parse import quote

_RESERVED: Final = re.compile(r"[\s/?#%\[\]{}<>\"\\^`|\x00-\x1f]")


def address(*parts: str) -> str:
    """The address of a resource by its parts."""
    return "legal://" + "/".join(map(_part, parts))


def _part(part: str) -> str:
    return _RESERVED.sub(lambda match: quote(match[0], safe=""), part)
