"""Which names usually belong to secrets, and which values are more than references."""

import re
from typing import Final

REFERENCE: Final = re.compile(r"\$\{[^}]*+\}?")
"""A reference in a definition of the yard.

One that is never closed is matched too, so that none of its characters is looked at again.
"""

ANY_REFERENCE: Final = re.compile(
    r"\$\{[^}]*+\}?|\{(?:env|file):[^}]*+\}?|\$[A-Z_][A-Z0-9_]*(?![A-Za-z0-9])"
)
"""A reference in any client's way of writing one."""

_SHOWN_AROUND: Final = 16
"""Characters around references that are shown."""

_SECRET_NAME: Final = re.compile(
    r"token|key|secret|passw|credential|authorization|cookie", re.IGNORECASE
)
_HOLDS_SECRET: Final = re.compile(
    r"(?i)token(?!s|iz)|secret|passw|passphrase|pwd|credential|cookie|authorization|signature"
    r"|(?:api|access|private|account)[-_ ]?key|(?:seed|recovery)[-_ ]?phrase"
    r"|(?:^|[-_.])(?:key|auth|pass|pat|jwt|sig|bearer|psk|otp)(?:$|[-_.])"
    r"|\u5bc6[\u7801\u78bc\u94a5\u9470]|\u53e3\u4ee4|\u4ee4\u724c|\u51ed\u8bc1|\u6191\u8b49"
)
_HOLDS_NONE: Final = re.compile(
    r"(?i)(?:file|path|dir|folder|name|[-_.]id|url|uri|env|var|type|ttl|length|size|limit|prefix"
    r"|column|field|format|algorithm|bits|mode|method|scheme|provider|server|host|port|endpoint"
    r"|realm|domain|expiry|timeout|count|version|strategy|policy|through|[-_.]jar"
    # The keys of tables, caches and sorted lists, and the half of a pair that everybody may know.
    r"|(?:sort|order|group|index|primary|foreign|unique|composite|partition|shard|range|hash|row"
    r"|routing|cache|lookup|map|object|json|public|hot)[-_.]?key)$"
    r"|^-{0,2}(?:no|skip|disable|enable|allow|require|max|min)[-_.]"
)
"""Names of settings that only tell something about a secret, or of keys that open nothing."""

_LOOKS_SECRET: Final = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[^\s/\\:]{16,}")


def names_secret(name: str) -> bool:
    """Whether a variable, a header or a field of that name usually holds a secret."""
    return _SECRET_NAME.search(name) is not None


def holds_secret(name: str) -> bool:
    """Whether an option or a setting of that name holds a secret; stricter than `names_secret`."""
    return _HOLDS_SECRET.search(name) is not None and _HOLDS_NONE.search(name) is None


def looks_secret(value: str) -> bool:
    """Whether a value is a long word of letters and digits that is neither a path nor a URL."""
    return _LOOKS_SECRET.fullmatch(value) is not None


def is_literal(value: str, reference: re.Pattern[str] = REFERENCE) -> bool:
    """Whether a value is more than references and a word or two around them."""
    around = reference.sub(_unless_open, value)
    return around == value or len(around) > _SHOWN_AROUND


def _unless_open(reference: re.Match[str]) -> str:
    text = reference.group()
    return "" if "{" not in text or text.endswith("}") else text
