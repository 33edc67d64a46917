"""From a resource template and the values of its variables to an address (RFC 6570, level 3)."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

_EXPRESSION: Final = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_RESERVED: Final = ":/?#[]@!$&'()" + "*+,;="


class _Style(NamedTuple):
    before: str
    between: str
    named: bool
    safe: str


_STYLES: Final = {
    "": _Style("", ",", named=False, safe=""),
    "+": _Style("", ",", named=False, safe=_RESERVED),
    "#": _Style("#", ",", named=False, safe=_RESERVED),
    ".": _Style(".", ".", named=False, safe=""),
    "/": _Style("/", "/", named=False, safe=""),
    ";": _Style(";", ";", named=True, safe=""),
    "?": _Style("?", "&", named=True, safe=""),
    "&": _Style("&", "&", named=True, safe=""),
}


def variables_of(template: str) -> list[str]:
    """The names of the variables, in their order."""
    names = (name for _, names in _EXPRESSION.findall(template) for name in names.split(","))
    return [*dict.fromkeys(each for name in names if (each := _name(name)))]


def expanded(template: str, values: Mapping[str, str]) -> str:
    """The address; a variable without a value is left out."""
    return _EXPRESSION.sub(lambda match: _expand(match[1], match[2].split(","), values), template)


def _expand(operator: str, names: list[str], values: Mapping[str, str]) -> str:
    style = _STYLES[operator]
    pairs = [(name, values[name]) for name in map(_name, names) if values.get(name)]
    parts = [
        f"{name}={quote(value, safe=style.safe)}" if style.named else quote(value, safe=style.safe)
        for name, value in pairs
    ]
    return style.before + style.between.join(parts) if parts else ""


def _name(written: str) -> str:
    """A variable without what says how much of it is used."""
    return written.strip().removesuffix("*").partition(":")[0]
