"""The editors behind one interface, chosen by the language of the file."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.domain.narrowing import is_array, is_mapping, is_object, object_of
from mcpyard.formats.editors import jsonc, toml, toml_arrays
from mcpyard.formats.editors.jsonc_scan import Json, Path, begun
from mcpyard.formats.facts import Client, EntrySchema, FileFormat
from mcpyard.formats.locations import ClientScopeRef

if TYPE_CHECKING:
    from mcpyard.formats.editors.yaml import YamlDocument, YamlVersion

Keys = tuple[str, ...]


class Parsed(Protocol):
    """A text that was read."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def file(self) -> str:
        """The file that it is of."""
        ...

    @property
    def value(self) -> Json:
        """What it says."""
        ...

    def has(self, path: Path) -> bool:
        """Whether there is a value at the path."""
        ...

    def place(self, path: Path) -> SourceLocation:
        """Where the value at the path starts."""
        ...


class JsonEditor:
    """JSON and JSONC."""

    def parse(self, text: str, file: str = "", along: Keys = ()) -> jsonc.JsoncDocument:
        """Read a text; comments are understood even where the client does not.

        Places along a path cost less when it is told.
        """
        return jsonc.parse(begun(text), file=file, along=along)

    def put(self, text: str, path: Path, value: object) -> str:
        """Set a member, or change an element of a list."""
        return jsonc.set_member(begun(text), path, value)

    def append(self, text: str, path: Keys, value: Mapping[str, object]) -> str:
        """Add an object to a list."""
        present = value_at(self.parse(text).value, path)
        return self.put(text, path, [*(present if is_array(present) else ()), value])

    def remove(self, text: str, path: Path) -> str:
        """Remove a member or an element."""
        return jsonc.remove_member(text, path)

    def rename(self, text: str, path: Keys, new_name: str) -> str:
        """Rename a member."""
        return jsonc.rename_member(text, path, new_name)


class TomlEditor:
    """TOML; an entry is a table, with its objects as tables below it."""

    def parse(self, text: str, file: str = "", along: Keys = ()) -> toml.TomlDocument:
        """Read a text."""
        del along
        return toml.parse(text, file=file)

    def put(self, text: str, path: Path, value: object) -> str:
        """Put a table, or one value of it, or change a table of a list."""
        names, index = _in_list(path)
        if index is not None and is_mapping(value):
            return toml_arrays.change_element(text, names, index, value)
        if is_mapping(value):
            return toml.put_table(text, names, value)
        return toml.set_value(text, names, value)

    def append(self, text: str, path: Keys, value: Mapping[str, object]) -> str:
        """Add a table to a list."""
        return toml_arrays.append_element(text, path, value)

    def remove(self, text: str, path: Path) -> str:
        """Remove a table."""
        names, index = _in_list(path)
        if index is not None:
            return toml_arrays.remove_element(text, names, index)
        return toml.remove_table(text, names)

    def rename(self, text: str, path: Keys, new_name: str) -> str:
        """Rename a table."""
        return toml.rename_table(text, path, new_name)


def _in_list(path: Path) -> tuple[Keys, int | None]:
    """The names of a path, and the position at its end where it leads into a list."""
    names = tuple(step for step in path if isinstance(step, str))
    return names, path[-1] if isinstance(path[-1], int) else None


class _YamlFunctions(Protocol):
    """What the editor for YAML offers; its module is loaded with the first file of that kind."""

    YamlVersion: "type[YamlVersion]"

    def parse(self, text: str, *, file: str, version: "YamlVersion") -> "YamlDocument": ...
    def set_member(self, text: str, path: Path, value: object, version: "YamlVersion") -> str: ...
    def remove_member(self, text: str, path: Path, version: "YamlVersion") -> str: ...
    def rename_member(
        self, text: str, path: Path, new_name: str, version: "YamlVersion"
    ) -> str: ...


@cache
def _yaml() -> _YamlFunctions:
    return cast("_YamlFunctions", import_module("mcpyard.formats.editors.yaml"))


@dataclass(frozen=True, slots=True)
class YamlEditor:
    """YAML, with plain scalars read by one of its versions."""

    version: str

    def parse(self, text: str, file: str = "", along: Keys = ()) -> "YamlDocument":
        """Read a text."""
        del along
        return _yaml().parse(text, file=file, version=self._version)

    def put(self, text: str, path: Path, value: object) -> str:
        """Set a member, or change an element of a list."""
        return _yaml().set_member(text, path, value, self._version)

    def append(self, text: str, path: Keys, value: Mapping[str, object]) -> str:
        """Add a map to a list."""
        present = value_at(self.parse(text).value, path)
        if not is_array(present):
            return self.put(text, path, [value])
        return self.put(text, (*path, len(present)), value)

    def remove(self, text: str, path: Path) -> str:
        """Remove a member or an element."""
        return _yaml().remove_member(text, path, self._version)

    def rename(self, text: str, path: Keys, new_name: str) -> str:
        """Rename a member."""
        return _yaml().rename_member(text, path, new_name, self._version)

    @property
    def _version(self) -> "YamlVersion":
        return _yaml().YamlVersion(self.version)


TextEditor: TypeAlias = JsonEditor | TomlEditor | YamlEditor
"""Changes a text in one place."""

_EDITORS: Final[Mapping[FileFormat, TextEditor]] = {
    FileFormat.JSON: JsonEditor(),
    FileFormat.JSONC: JsonEditor(),
    FileFormat.TOML: TomlEditor(),
    FileFormat.YAML: YamlEditor("1.2"),
    FileFormat.YAML_1_1: YamlEditor("1.1"),
}


def editor_of(client: Client) -> TextEditor:
    """The editor for a client's files."""
    return _EDITORS[client.format]


def editor_for(path: str, own: FileFormat = FileFormat.YAML) -> TextEditor:
    """The editor for a file by its name; YAML is read as the client of that format does."""
    if path.endswith((".yaml", ".yml")):
        return _EDITORS[own if own is FileFormat.YAML_1_1 else FileFormat.YAML]
    return _EDITORS[FileFormat.TOML if path.endswith(".toml") else FileFormat.JSONC]


def shape_of(ref: ClientScopeRef, parsed: Parsed) -> EntrySchema:
    """The shape that a file is in: the last whose keys lead to an object that is no entry."""
    for shape in reversed(ref.client.shapes[1:]):
        node = value_at(parsed.value, (*ref.above, *shape.keys))
        words = shape.field_names.values()
        if is_object(node) and all(is_object(node[word]) for word in words if word in node):
            return shape
    return ref.client.shapes[0]


def value_at(value: object, path: Keys) -> object:
    """What stands at a path; None where nothing does."""
    for step in path:
        if not is_object(value):
            return None
        value = value.get(step)
    return value


def object_at(parsed: Parsed, path: Keys) -> dict[str, object]:
    """The object at a path, empty where nothing is; anything else breaks the document."""
    for length in range(len(path) + 1):
        node = value_at(parsed.value, path[:length])
        if node is None and length:
            return {}
        if not isinstance(node, dict):
            message = f"expected an object, found {describe(node)}"
            problem = Problem(".".join(path[:length]), message, parsed.place(path[:length]))
            raise DocumentBroken.of(problem)
    return object_of(value_at(parsed.value, path))


def name_place(parsed: Parsed, path: Path) -> SourceLocation:
    """Where the name of an entry stands."""
    if isinstance(parsed, toml.TomlDocument):
        return parsed.place(path)
    return cast("jsonc.JsoncDocument | YamlDocument", parsed).key_place(path)
