"""The editors behind one interface, chosen by the language of the file."""

from collections.abc import Mapping
from typing import Final, Protocol

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DocumentBroken, Problem, SourceLocation
from mcpyard.domain.narrowing import is_mapping, is_object, object_of
from mcpyard.formats.editors import jsonc, toml
from mcpyard.formats.facts import Client, EntrySchema, FileFormat
from mcpyard.formats.locations import ClientScopeRef

Keys = tuple[str, ...]
Steps = tuple[str | int, ...]

_NEW_JSON: Final = "{}\n"


class Parsed(Protocol):
    """A text that was read."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def file(self) -> str:
        """Its name, for places."""
        ...

    def has(self, path: Steps, /) -> bool:
        """Whether something stands at the path."""
        ...

    def place(self, path: Steps, /) -> SourceLocation:
        """Where it stands."""
        ...


class TextEditor(Protocol):
    """Changes a text in one place."""

    def parse(self, text: str, file: str, along: Keys = (), /) -> tuple[Parsed, object]:
        """The text as it was read, and its value; places along a path cost less when it is told."""
        ...

    def put(self, text: str, path: Keys, value: object) -> str:
        """The text with a value at the path."""
        ...

    def remove(self, text: str, path: Keys) -> str:
        """The text with nothing at the path."""
        ...

    def rename(self, text: str, path: Keys, new_name: str) -> str:
        """The text with another name for what stands at the path."""
        ...


class JsonEditor:
    """JSON and JSONC; an empty text is that of a new file."""

    def parse(self, text: str, file: str, along: Keys = (), /) -> tuple[Parsed, object]:
        """Read a text; comments are understood even where the client does not."""
        text = text if says_something(text) else text + _NEW_JSON
        document = jsonc.parse(text, file=file, along=along)
        return document, document.value

    def put(self, text: str, path: Keys, value: object) -> str:
        """Set a member."""
        return jsonc.set_member(text if says_something(text) else text + _NEW_JSON, path, value)

    def remove(self, text: str, path: Keys) -> str:
        """Remove a member."""
        return jsonc.remove_member(text, path)

    def rename(self, text: str, path: Keys, new_name: str) -> str:
        """Rename a member."""
        return jsonc.rename_member(text, path, new_name)


class TomlEditor:
    """TOML; an entry is a table, with its objects as tables below it."""

    def parse(self, text: str, file: str, _along: Keys = (), /) -> tuple[Parsed, object]:
        """Read a text."""
        document = toml.parse(text, file=file)
        return document, document.value

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


def says_something(text: str) -> bool:
    """Whether a text holds more than white space."""
    return bool(text.strip("\ufeff \t\r\n"))


def shape_of(ref: ClientScopeRef, value: object) -> EntrySchema:
    """The shape that a file is in: the last whose keys lead to an object of objects."""
    for shape in reversed(ref.client.shapes[1:]):
        node = value_at(value, (*ref.above, *shape.keys))
        if is_object(node) and _of_objects(node):
            return shape
    return ref.client.shapes[0]


def value_at(value: object, path: Keys) -> object:
    """What stands at a path; None where nothing does."""
    for step in path:
        if not is_object(value):
            return None
        value = value.get(step)
    return value


def object_at(parsed: Parsed, value: object, path: Keys) -> dict[str, object]:
    """The object at a path, empty where nothing is; anything else breaks the document."""
    for length in range(len(path) + 1):
        node = value_at(value, path[:length])
        if node is None and length:
            return {}
        if not isinstance(node, dict):
            message = f"expected an object, found {describe(node)}"
            problem = Problem(".".join(path[:length]), message, parsed.place(path[:length]))
            raise DocumentBroken.of(problem)
    return object_of(value_at(value, path))


def name_place(parsed: Parsed, path: Keys) -> SourceLocation:
    """Where the name of an entry stands."""
    return parsed.key_place(path) if isinstance(parsed, jsonc.JsoncDocument) else parsed.place(path)


def _of_objects(value: dict[str, object]) -> bool:
    return all(isinstance(each, dict) for each in value.values())
