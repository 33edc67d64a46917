"""The part of a client's file that holds its servers: an object by their names, or a list.

In a list each server says its name itself, under the shape's `name_key`; everybody else sees the
entry without that word, as in an object.
"""

from dataclasses import dataclass

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DocumentBroken, EditRefused, Problem, SourceLocation
from mcpyard.domain.narrowing import is_array, object_of
from mcpyard.formats.documents import (
    Keys,
    Parsed,
    TextEditor,
    editor_of,
    name_place,
    object_at,
    shape_of,
    value_at,
)
from mcpyard.formats.editors.jsonc_scan import Path
from mcpyard.formats.facts import EntrySchema, Field
from mcpyard.formats.locations import ClientScopeRef


@dataclass(frozen=True, slots=True)
class EntryContainer:
    """The servers of a scope in a text that was read.

    Attributes:
        parsed: The text.
        shape: The shape that it is in.
        path: Where the servers are.
        entries: Each by its name, as it is written.
        positions: In a list, where each of them stands.
        others: The names of entries that are no servers.
    """

    parsed: Parsed
    shape: EntrySchema
    path: Keys
    entries: dict[str, object]
    positions: dict[str, int]
    _editor: TextEditor
    others: frozenset[str] = frozenset()

    @classmethod
    def of(cls, ref: ClientScopeRef, parsed: Parsed) -> "EntryContainer":
        """The servers of a scope, or raise `DocumentBroken`."""
        shape, editor = shape_of(ref, parsed), editor_of(ref.client)
        path = (*ref.above, *shape.keys)
        if not shape.name_key:
            members = object_at(parsed, path)
            others = frozenset(name for name in members if _is_other(members[name], shape))
            entries: dict[str, object] = {
                name: raw for name, raw in members.items() if name not in others
            }
            return cls(parsed, shape, path, entries, {}, editor, others)
        entries = {}
        positions: dict[str, int] = {}
        for index, item in enumerate(_items(parsed, path)):
            # Of two that have one name, the first counts.
            name = None if _is_elsewhere(item, shape) else _name(item, shape.name_key)
            if name is not None and name not in entries:
                entries[name] = _without(item, shape.name_key)
                positions[name] = index
        return cls(parsed, shape, path, entries, positions, editor)

    @classmethod
    def read(cls, ref: ClientScopeRef, text: str) -> "EntryContainer":
        """The servers of a scope in a text, or raise `DocumentBroken`."""
        return cls.of(ref, editor_of(ref.client).parse(text))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is in a list and has no name, or the name of another."""
        if not self.shape.name_key:
            return ()
        seen: set[str] = set()
        problems: list[Problem] = []
        for index, item in enumerate(_items(self.parsed, self.path)):
            name, at = _name(item, self.shape.name_key), (*self.path, index)
            field = f"{'.'.join(self.path)}[{index}].{self.shape.name_key}"
            if _is_elsewhere(item, self.shape):
                continue
            if name is None:
                problems.append(Problem(field, "is missing; expected a string", self._place(at)))
            elif name in seen:
                problems.append(Problem(field, f'"{name[:80]}" is used twice', self._place(at)))
            seen.add(name or "")
        return tuple(problems)

    def path_of(self, name: str) -> Path:
        """The path of an entry, which in a list is its position."""
        if not self.shape.name_key:
            return (*self.path, name)
        return (*self.path, self.positions.get(name, len(_items(self.parsed, self.path))))

    def put(self, name: str, value: dict[str, object]) -> str:
        """The text with an entry added, or changed to a value."""
        text, key = self.parsed.text, self.shape.name_key
        if not key:
            own = self.shape.own_name
            named = {own: name, **value} if own and name not in self.entries else value
            return self._editor.put(text, (*self.path, name), named)
        named = {key: name, **value}
        if name not in self.entries:
            return self._editor.append(text, self.path, named)
        return self._editor.put(text, self.path_of(name), named)

    def put_field(self, name: str, word: str, value: object) -> str:
        """The text with one word of an entry changed."""
        if not self.shape.name_key:
            return self._editor.put(self.parsed.text, (*self.path, name, word), value)
        return self.put(name, {**object_of(self.entries[name]), word: value})

    def remove(self, name: str) -> str:
        """The text without an entry."""
        self._check_server(name)
        return self._editor.remove(self.parsed.text, self.path_of(name))

    def rename(self, name: str, new_name: str) -> str:
        """The text with an entry under another name."""
        self._check_server(name)
        text, key = self.parsed.text, self.shape.name_key
        if not key:
            own = self.shape.own_name
            renamed = self._editor.rename(text, (*self.path, name), new_name)
            if not own or object_of(self.entries.get(name)).get(own) != name:
                return renamed
            return self._editor.put(renamed, (*self.path, new_name, own), new_name)
        renamed = {key: new_name, **object_of(self.entries.get(name))}
        return self._editor.put(text, self.path_of(name), renamed)

    def _check_server(self, name: str) -> None:
        if name in self.others:
            message = "is not an MCP server"
            place = self._place((*self.path, name))
            raise EditRefused.of(Problem(".".join((*self.path, name)), message, place))

    def _place(self, path: Path) -> SourceLocation:
        return name_place(self.parsed, path)


def _items(parsed: Parsed, path: Keys) -> list[object]:
    object_at(parsed, path[:-1])
    items = value_at(parsed.value, path)
    if items is None:
        return []
    if not is_array(items):
        message = f"expected a list, found {describe(items)}"
        raise DocumentBroken.of(Problem(".".join(path), message, parsed.place(path)))
    return items


def _without(item: object, key: str) -> dict[str, object]:
    return {word: value for word, value in object_of(item).items() if word != key}


def _name(item: object, key: str) -> str | None:
    name = object_of(item).get(key)
    return name if isinstance(name, str) and name else None


def _is_elsewhere(item: object, shape: EntrySchema) -> bool:
    """Whether an element of a list stands for a server that is defined elsewhere."""
    return bool(shape.elsewhere_key) and shape.elsewhere_key in object_of(item)


def _is_other(raw: object, shape: EntrySchema) -> bool:
    """Whether an entry is marked as something else than an MCP server."""
    word = shape.field_names.get(Field.TYPE, "")
    return bool(shape.other_types) and object_of(raw).get(word) in shape.other_types
