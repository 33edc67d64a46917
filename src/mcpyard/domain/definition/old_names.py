"""Names that fields had before: they are still read wherever a definition is.

`backup` became `fallback`. `lanes` said one of two things, which have a field each now: `1` is
`concurrency`, `per-client` is `isolation`.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic_core import PydanticCustomError

from mcpyard.domain.narrowing import is_mapping, mapping_of

NEW_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "backup": ("fallback",),
    "lanes": ("isolation", "concurrency"),
}
"""What each is called now; the first one is where a wrong value is found."""

_OF_TOOLS: Final = ("backup",)

Fields = Mapping[str, object]


def renamed(fields: Fields) -> Fields:
    """The fields of a server by the names of today; its tools are left as they are."""
    return _renamed(fields, NEW_NAMES)


def renamed_tool(fields: Fields) -> Fields:
    """The fields of a tool by the names of today."""
    return _renamed(fields, _OF_TOOLS)


def renamed_throughout(fields: Fields) -> dict[str, object]:
    """The fields of a server and of its tools by the names of today."""
    whole = dict(renamed(fields))
    if tools := _tools(whole):
        today = {tool: dict(renamed_tool(each)) for tool, each in tools.items()}
        whole["tools"] = {**mapping_of(whole["tools"]), **today}
    return whole


def without_replaced(fields: Fields, patch: Fields) -> dict[str, object]:
    """The fields of a server without those that a patch says anew by an old name."""
    left = _without(fields, patch, NEW_NAMES)
    ours, patches = _tools(left), _tools(patch)
    tools = {tool: _without(each, patches.get(tool, {}), _OF_TOOLS) for tool, each in ours.items()}
    return left | {"tools": tools} if tools else left


def written_names(fields: Fields) -> dict[tuple[int | str, ...], str]:
    """The old name of each field that stands under one, by the path that it has now."""
    places = [((), fields, NEW_NAMES.keys())]
    places += [(("tools", tool), each, _OF_TOOLS) for tool, each in _tools(fields).items()]
    return {
        (*path, NEW_NAMES[old][0]): old
        for path, members, names in places
        for old in names
        if old in members
    }


def _renamed(fields: Fields, names: Iterable[str]) -> Fields:
    old_names = [name for name in names if name in fields]
    if not old_names:
        return fields
    renamed = {name: value for name, value in fields.items() if name not in old_names}
    for name in old_names:
        if fields[name] is not None:
            _refuse_both(name, renamed)
            renamed |= _today(name, fields[name])
    return renamed


def _refuse_both(old: str, fields: Fields) -> None:
    for new in NEW_NAMES[old]:
        if fields.get(new) is not None:
            message = "{old} stands beside {new}; they mean the same"
            raise PydanticCustomError("two_names", message, {"old": old, "new": new})


def _today(old: str, value: object) -> dict[str, object]:
    if old == "backup":
        return {"fallback": value}
    if value == 1 and isinstance(value, int) and not isinstance(value, bool):
        return {"isolation": "shared", "concurrency": 1}
    return {"isolation": value, "concurrency": 0}


def _without(fields: Fields, patch: Fields, names: Iterable[str]) -> dict[str, object]:
    replaced = {new for old in names if old in patch for new in NEW_NAMES[old]}
    return {name: value for name, value in fields.items() if name not in replaced}


def _tools(fields: Fields) -> dict[str, Fields]:
    """What is said of each tool, where it can be read."""
    tools = mapping_of(fields.get("tools"))
    return {tool: each for tool, each in tools.items() if is_mapping(each)}
