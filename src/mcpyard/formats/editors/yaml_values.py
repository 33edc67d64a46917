"""What the nodes of a YAML text mean, by version 1.1 or 1.2, and what an edit is meant to give.

The programs differ: for one `yes` is true and `<<` merges, for another both are plain texts. A
value that is marked by a tag of somebody's own is kept as it is, and can only be left alone.
"""

import datetime as dt
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NoReturn, cast

import yaml

from mcpyard.domain.errors import DocumentBroken, Problem
from mcpyard.formats.editors import jsonc_values
from mcpyard.formats.editors.jsonc_lines import Lines
from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.jsonc_values import copied, refuse
from mcpyard.formats.editors.yaml_nodes import YamlNode

MERGE: Final = "<<"
_TOO_LONG: Final = 10**4300
_CORE: Final = "tag:yaml.org,2002:"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INTEGER: Final = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_SPECIAL: Final = re.compile(r"([-+]?)\.(inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_RESOLVED: Final = frozenset(f"{_CORE}{it}" for it in ("null", "bool", "int", "float", "timestamp"))
_TEXTS: Final = frozenset({f"{_CORE}str", "!"})
_PLAIN_TAGS: Final = frozenset({f"{_CORE}{name}" for name in ("map", "seq", "str")} | {"!", ""})


class YamlVersion(StrEnum):
    """By which rules plain scalars are read."""

    V1_1 = "1.1"
    V1_2 = "1.2"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A value under a tag that is none of YAML's own; it is compared and never written."""

    tag: str
    value: object

    def __repr__(self) -> str:
        return f"a value tagged {self.tag}"


@lru_cache(maxsize=4096)
def scalar(text: str, version: YamlVersion) -> Json:
    """What a plain scalar means.

    Raises:
        ValueError: it looks like a number or a date, and is none.
    """
    return _scalar_1_1(text) if version is YamlVersion.V1_1 else _scalar_1_2(text)


def _scalar_1_2(text: str) -> Json:
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text) or _OTHER_BASE.fullmatch(text):
        return int(text, 0 if text[1:2].isalpha() else 10)
    if _FLOAT.fullmatch(text):
        return float(text)
    if special := _SPECIAL.fullmatch(text):
        return float(f"{special[1]}inf") if special[2] else math.nan
    return text


def _scalar_1_1(text: str) -> Json:
    resolver: Any = yaml.resolver.Resolver()
    tag = str(resolver.resolve(yaml.ScalarNode, text, (True, False)))
    if tag not in _RESOLVED:
        return text
    constructor: Any = yaml.constructor.SafeConstructor()
    return cast("Json", constructor.construct_object(yaml.ScalarNode(tag, text)))


def is_text(text: str) -> bool:
    """Whether a plain scalar is a text in every version."""
    try:
        return all(isinstance(scalar(text, version), str) for version in YamlVersion)
    except ValueError:
        return False


class Reading:
    """The values of the nodes of one text."""

    def __init__(self, text: str, file: str, version: YamlVersion) -> None:
        self._text = text
        self._file = file
        self._version = version
        self._values: dict[int, Json] = {}
        self._names: dict[int, dict[str, int]] = {}

    def value(self, node: YamlNode) -> Json:
        """What a node means.

        Raises:
            DocumentBroken: a key stands twice, or what is there has no meaning.
        """
        key = id(node)
        if key not in self._values:
            self._values[key] = self._value(node)
        return self._values[key]

    def names(self, node: YamlNode) -> dict[str, int]:
        """The positions of the members of a map by their names, without those that merge."""
        key = id(node)
        if key not in self._names:
            names: dict[str, int] = {}
            for index, each in enumerate(node.keys):
                name = self.name(each)
                if self.merges(each):
                    continue
                if name in names:
                    first = Lines(self._text, self._file).place(node.keys[names[name]].start).line
                    self._fail(each, f'the key "{name[:80]}" already stands in line {first}')
                names[name] = index
            self._names[key] = names
        return self._names[key]

    def name(self, key: YamlNode) -> str:
        """A key as a name: its content, or all of it as it is written."""
        if key.kind == "alias" and key.target is not None:
            return self.name(key.target)
        return key.text if key.kind == "scalar" else self._text[key.start : key.end]

    def merges(self, key: YamlNode) -> bool:
        """Whether a key takes in the members of other maps."""
        plain = key.kind == "scalar" and not key.style and not key.tag
        return plain and key.text == MERGE and self._version is YamlVersion.V1_1

    def merged(self, node: YamlNode) -> dict[str, Json]:
        """The members that a map takes from others; what it has itself counts instead."""
        members: dict[str, Json] = {}
        for key, each in zip(node.keys, node.values, strict=True):
            if not self.merges(key):
                continue
            value = self.value(each)
            maps = value if isinstance(value, list) else [value]
            for other in reversed(maps):
                if not isinstance(other, dict):
                    self._fail(each, "only maps can be merged into a map")
                members |= other
        return members

    def _value(self, node: YamlNode) -> Json:
        if node.kind == "alias" and node.target is not None:
            return self.value(node.target)
        if node.kind == "map":
            value: Json = self._map(node)
        elif node.kind == "list":
            value = [self.value(each) for each in node.values]
        else:
            return self._scalar(node)
        return value if node.tag in _PLAIN_TAGS else cast("Json", Tagged(node.tag, value))

    def _map(self, node: YamlNode) -> dict[str, Json]:
        names = self.names(node)
        own = {name: self.value(node.values[index]) for name, index in names.items()}
        return own if len(names) == len(node.keys) else {**self.merged(node), **own}

    def _scalar(self, node: YamlNode) -> Json:
        if node.tag in _TEXTS or (node.style and not node.tag):
            return node.text
        try:
            value = scalar(node.text, self._version)
        except ValueError as error:
            self._fail(node, f"{node.text[:40]} is no value: {error}"[:200])
        return value if not node.tag else cast("Json", Tagged(node.tag, node.text))

    def _fail(self, node: YamlNode, sentence: str) -> NoReturn:
        place = Lines(self._text, self._file).place(node.start)
        raise DocumentBroken.of(Problem("", sentence, place))


def plain(value: object, path: Path) -> Json:
    """A copy of a value as YAML has it, to stand at a path.

    Raises:
        EditRefused: YAML has no such value, or it would be nested too deeply.
    """
    return copied(value, path, _plain_scalar, name_fault)


def same(left: object, right: object) -> bool:
    """Whether two values are equal: 1, 1.0 and true differ, the order of keys does not matter."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        other = cast("dict[str, object]", right)
        mine = cast("dict[str, object]", left)
        return mine.keys() == other.keys() and all(same(mine[key], other[key]) for key in mine)
    if isinstance(left, list):
        items, others = cast("list[object]", left), cast("list[object]", right)
        return len(items) == len(others) and all(map(same, items, others))
    return left == right or (isinstance(left, float) and str(left) == str(right))


def name_fault(name: object) -> str | None:
    """Why something cannot be a name, or nothing."""
    if isinstance(name, str) and not _encodable(name):
        return f"the name {name!r} cannot be written as UTF-8"
    return jsonc_values.name_fault(name)


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


_KEPT: Final[tuple[type, ...]] = (dt.date, dt.datetime, bytes, Tagged, set)


def _plain_scalar(value: object, path: Path) -> Json:
    if isinstance(value, str) and not _encodable(value):
        raise refuse(path, "the string cannot be written as UTF-8")
    if isinstance(value, int) and abs(value) >= _TOO_LONG:
        raise refuse(path, "the number has too many digits")
    if value is None or type(value) in {bool, int, float, str} or isinstance(value, _KEPT):
        return cast("Json", value)
    raise refuse(path, f"{value!r} is not a YAML value")
