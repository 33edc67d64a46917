"""The editors behind one interface, chosen by the language of the file."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.domain.narrowing import is_mapping, is_object, object_of
from mcpyard.formats.editors import jsonc, toml
from mcpyard.formats.editors.jsonc_scan import begun
from mcpyard.formats.facts import Client, EntrySchema, FileFormat
from mcpyard.formats.locations import ClientScopeRef

Keys = tuple[str, ...]


Parsed: TypeAlias = jsonc.JsoncDocument | toml.TomlDocument
"""A text that was read."""


class JsonEditor:
    """JSON and JSONC."""

    def parse(self, text: str, file: str = "", along: Keys = ()) -> jsonc.JsoncDocument:
        """Read a text; comments are understood even where the client does not.

        Places along a path cost less when it is told.
        """
        return jsonc.parse(begun(text), file=file, along=along)

    def put(self, text: str, path: Keys, value: object) -> str:
        """Set a member."""
        return jsonc.set_member(begun(text), path, value)

    def remove(self, text: str, path: Keys) -> str:
        """Remove a member."""
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

    def put(self, text: str, path: Keys, value: object) -> str:
        """Put a table, or one value of it."""
        if is_mapping(value):
            return toml.put_table(text, path, value)
        return toml.set_value(text, path, value)

    def remove(self, text: str, path: Keys) -> str:
        """Remove a table."""
        return toml.remove_table(text, path)

    def rename(self, text: str, path: Keys, new_name: str) -> str:
        """Rename a table."""
        return toml.rename_table(text, path, new_name)


TextEditor: TypeAlias = JsonEditor | TomlEditor
"""Changes a text in one place."""

_EDITORS: Final[Mapping[FileFormat, TextEditor]] = {
    FileFormat.JSON: JsonEditor(),
    FileFormat.JSONC: JsonEditor(),
    FileFormat.TOML: TomlEditor(),
}


def editor_of(client: Client) -> TextEditor:
    """The editor for a client's files."""
    return _EDITORS[client.format]


def editor_for(path: str) -> TextEditor:
    """The editor for a file that a client reads besides those of its servers."""
    return _EDITORS[FileFormat.TOML if path.endswith(".toml") else FileFormat.JSONC]


def shape_of(ref: ClientScopeRef, parsed: Parsed) -> EntrySchema:
    """The shape that a file is in: the last whose keys lead to an object of objects."""
    for shape in reversed(ref.client.shapes[1:]):
        node = value_at(parsed.value, (*ref.above, *shape.keys))
        if is_object(node) and all(isinstance(each, dict) for each in node.values()):
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


def name_place(parsed: Parsed, path: Keys) -> SourceLocation:
    """Where the name of an entry stands."""
    return parsed.key_place(path) if isinstance(parsed, jsonc.JsoncDocument) else parsed.place(path)
