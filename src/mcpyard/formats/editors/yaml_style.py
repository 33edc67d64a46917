"""How new YAML is written: scalars, keys, and the lines of a block.

A text is quoted whenever one of the two versions of YAML, or a reader that knows less than either,
could take it for something else.
"""

import re
from dataclasses import dataclass
from typing import Final

from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.jsonc_values import refuse
from mcpyard.formats.editors.yaml_values import is_text

_WORDS: Final = r"[A-Za-z_/][A-Za-z0-9_./@+-]*(?: [A-Za-z0-9_./@+-]+)*"
_PLAIN: Final = re.compile(_WORDS)
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9_.-]+(?::[0-9]+)?(?:/[A-Za-z0-9_./@+=%?&~-]*)?")
_SHORT_BOOLEANS: Final = frozenset("yYnN")
_ESCAPED: Final = re.compile(
    '["\\\\\x00-\x1f\x7f-\xa0\xad\u0600-\u0605\u200b-\u200f\u2028-\u202f\u2060-\u206f'
    "\ufeff\ufff0-\uffff\U000e0000-\U000fffff]"
)
_NOT_SINGLE: Final = re.compile(r"[^\x20-\x7e\xa1-\u1fff\u3000-\ud7ff\ue000-\ufefe\uff00-\uffef]")
_LAST_SHORT: Final = 0xFFFF
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x00": "\\0"}


@dataclass(frozen=True, slots=True)
class YamlStyle:
    """How a file is written.

    Attributes:
        newline: Its line end.
        step: How much a map in a map is indented.
        dash: How much a list in a map is indented.
        inside: How much the content of a list stands behind its dashes.
    """

    newline: str = "\n"
    step: int = 2
    dash: int = 2
    inside: int = 2


def text_of(value: str, *, flow: bool = False, like: str = "") -> str:
    """A text, in the quotes of another one where they can hold it, else plain where it can be."""
    if like == "'" and not _NOT_SINGLE.search(value):
        return "'" + value.replace("'", "''") + "'"
    if like != '"' and _is_plain(value, flow=flow):
        return value
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def scalar_of(value: Json, path: Path, *, flow: bool = False, like: str = "") -> str:
    """A scalar, or a map or a list that is empty."""
    if isinstance(value, str):
        return text_of(value, flow=flow, like=like)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (dict, list)):
        return "{}" if isinstance(value, dict) else "[]"
    raise refuse(path, f"{value!r} can only be left as it is")


def flow_of(value: Json, path: Path, *, quoted: bool = False) -> str:
    """A value on one line, in braces and brackets."""
    if isinstance(value, dict):
        like = '"' if quoted else ""
        pairs = (
            f"{text_of(name, flow=True, like=like)}: {flow_of(item, path, quoted=quoted)}"
            for name, item in value.items()
        )
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow_of(item, path, quoted=quoted) for item in value) + "]"
    return scalar_of(value, path, flow=True, like='"' if quoted else "")


def inline(value: Json) -> bool:
    """Whether a value stands behind its key, in the same line."""
    return not isinstance(value, (dict, list)) or not value


def member_lines(name: str, value: Json, indent: int, style: YamlStyle, path: Path) -> list[str]:
    """The lines of a member of a map."""
    head = " " * indent + text_of(name) + ":"
    if inline(value):
        return [f"{head} {scalar_of(value, path)}"]
    return [head, *value_lines(value, indent, style, path)]


def value_lines(value: Json, indent: int, style: YamlStyle, path: Path) -> list[str]:
    """The lines of a map or a list under a key that is indented so much."""
    if isinstance(value, dict):
        members = value.items()
        each = (member_lines(*it, indent + style.step, style, path) for it in members)
    else:
        items = value if isinstance(value, list) else ()
        each = (element_lines(item, indent + style.dash, style, path) for item in items)
    return [line for lines in each for line in lines]


def element_lines(value: Json, indent: int, style: YamlStyle, path: Path) -> list[str]:
    """The lines of an element of a list; what it holds begins behind the dash."""
    dash = " " * indent + "-" + " " * (style.inside - 1)
    if inline(value):
        return [dash + scalar_of(value, path)]
    column = indent + style.inside
    if isinstance(value, dict):
        lines = [
            line
            for name, item in value.items()
            for line in member_lines(name, item, column, style, path)
        ]
    else:
        lines = [
            line
            for item in (value if isinstance(value, list) else ())
            for line in element_lines(item, column, style, path)
        ]
    return [dash + lines[0].lstrip(" "), *lines[1:]]


def _is_plain(value: str, *, flow: bool) -> bool:
    if value in _SHORT_BOOLEANS or not is_text(value):
        return False
    return bool(_PLAIN.fullmatch(value) or (not flow and _ADDRESS.fullmatch(value)))


def _float(value: float) -> str:
    written = repr(value)
    if written.lstrip("-") in {"inf", "nan"}:
        return written.replace("inf", ".inf").replace("nan", ".nan")
    # Version 1.1 takes a number without a point for a text.
    return written if "." in written else written.replace("e", ".0e")


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    return _SHORT.get(character) or (f"\\u{code:04X}" if code <= _LAST_SHORT else f"\\U{code:08X}")
