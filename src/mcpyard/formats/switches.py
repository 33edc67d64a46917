"""Switching servers on and off in the way that each program understands.

Some programs have a field for it, some a list of names in another file, some none at all. A field
that a program does not know is never written.
"""

from typing import Final

from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import EditRefused, Problem, ServerUnknown
from mcpyard.domain.narrowing import is_array, object_of, texts_of
from mcpyard.formats.containers import EntryContainer
from mcpyard.formats.documents import JsonEditor, object_at, value_at
from mcpyard.formats.editing import Edited
from mcpyard.formats.entries import field_of
from mcpyard.formats.facts import OPPOSITE, PROJECT, Field, Location, SwitchKind
from mcpyard.formats.locations import ClientScopeRef, filled
from mcpyard.formats.warnings import Warned, WarningKind

_JSON: Final = JsonEditor()


def switch_location(ref: ClientScopeRef) -> Location | None:
    """The file that holds the switch: the one of the entries, or another."""
    return ref.scope.switch.file or ref.scope.location


def switch_words(ref: ClientScopeRef) -> str:
    """Where a server is switched, for a person to read."""
    switch = ref.scope.switch
    location = switch_location(ref)
    if switch.kind is SwitchKind.NONE or location is None:
        return f"the settings of {ref.client.title} itself"
    folders = {"home": "~", "project": ".", "config": "~/.config", "support": "~/.config"}
    path = location.templates[0].format_map(folders)
    keys = ".".join(filled(switch.off, ref.project or "<project>"))
    return f"{keys} of {path}" if keys else path


def switch_name(ref: ClientScopeRef, name: str) -> str:
    """A server's name as its switch spells it."""
    return name.strip().lower() if ref.scope.switch.lowered else name


def switched_off(ref: ClientScopeRef, text: str) -> frozenset[str]:
    """The names that are off by a list or a map; `text` is the content of the switch's file."""
    switch = ref.scope.switch
    if switch.kind not in {SwitchKind.LIST, SwitchKind.MAP}:
        return frozenset()
    marks = value_at(_JSON.parse(text).value, filled(switch.off, ref.project))
    if switch.kind is SwitchKind.LIST:
        return frozenset(texts_of(marks))
    return frozenset(
        name for name in object_of(marks) if value_at(marks, (name, "enabled")) is False
    )


def lacks_project(ref: ClientScopeRef) -> bool:
    """Whether a server can be switched off only for a project, and there is none."""
    return PROJECT in ref.scope.switch.off and not ref.project


def is_on(ref: ClientScopeRef, name: str, off: frozenset[str]) -> bool:
    """Whether a server is left on by the names that are off."""
    return switch_name(ref, name) not in off


def set_enabled(ref: ClientScopeRef, text: str, name: str, *, enabled: bool) -> Edited:
    """Switch a server; `text` is the content of the file of `switch_location`.

    Raises:
        EditRefused: the program keeps it where nothing can be written.
        ServerUnknown: no such server in the file of the entries.
    """
    switch = ref.scope.switch
    if lacks_project(ref):
        raise _refuse(f"{ref.client.title} stores it per project; specify one")
    if switch.kind is SwitchKind.NONE:
        raise _refuse(f"{ref.client.title} stores it in its internal settings, not in a file")
    if switch.kind is SwitchKind.ENTRY:
        return _in_entry(ref, text, name, enabled=enabled)
    if switch.kind is SwitchKind.LIST:
        edited = _in_lists(ref, text, name, enabled=enabled)
    else:
        edited = _in_map(ref, text, switch_name(ref, name), enabled=enabled)
    return Edited(edited, _warnings(ref, enabled=enabled))


def renamed(ref: ClientScopeRef, text: str, name: str, new_name: str | None) -> str:
    """The content of a switch's file with another name for a server, or without it for None.

    Whoever gets the old name later would be switched off, or approved, by what is left there.
    """
    switch = ref.scope.switch
    if PROJECT in switch.off and not ref.project:
        return text
    if switch.kind is SwitchKind.LIST:
        for path in filter(None, (switch.off, switch.on)):
            text = _renamed_in_list(text, filled(path, ref.project), name, new_name)
    elif switch.kind is SwitchKind.MAP:
        text = _renamed_in_map(ref, text, name, new_name)
    return text


def _renamed_in_list(text: str, path: tuple[str, ...], name: str, new_name: str | None) -> str:
    names = value_at(_JSON.parse(text).value, path)
    if not is_array(names) or name not in names:
        return text
    target = None if new_name in names else new_name
    changed = [target if each == name else each for each in names]
    return _JSON.put(text, path, [each for each in changed if each is not None])


def _renamed_in_map(ref: ClientScopeRef, text: str, name: str, new_name: str | None) -> str:
    path = (*ref.scope.switch.off, switch_name(ref, name))
    marks = object_of(value_at(_JSON.parse(text).value, path[:-1]))
    if path[-1] not in marks:
        return text
    target = None if new_name is None else switch_name(ref, new_name)
    if target is None or target in marks:
        return text if target == path[-1] else _JSON.remove(text, path)
    return _JSON.rename(text, path, target)


def _in_entry(ref: ClientScopeRef, text: str, name: str, *, enabled: bool) -> Edited:
    servers = EntryContainer.read(ref, text)
    shape, raw = servers.shape, servers.entries.get(name)
    if raw is None:
        raise ServerUnknown(f'there is no server "{name}" in {ref}')
    members = object_of(raw)
    words = (each for each in members if field_of(each, shape) is Field.ENABLED)
    word = next(words, shape.field_names[Field.ENABLED])
    target = enabled is not (word == OPPOSITE)
    present = members.get(word)
    # Saying nothing means on, so there is nothing to say when it is to be on.
    unsaid = present is None and enabled
    if unsaid or present is target:
        return Edited(text)
    return Edited(servers.put_field(name, word, target))


def _in_lists(ref: ClientScopeRef, text: str, name: str, *, enabled: bool) -> str:
    switch = ref.scope.switch
    text = _with_name(text, filled(switch.off, ref.project), name, present=not enabled)
    if switch.on:
        text = _with_name(text, filled(switch.on, ref.project), name, present=enabled)
    return text


def _with_name(text: str, path: tuple[str, ...], name: str, *, present: bool) -> str:
    parsed = _JSON.parse(text)
    object_at(parsed, path[:-1])
    entries = value_at(parsed.value, path)
    if entries is not None and not is_array(entries):
        raise _refuse(f"{'.'.join(path)}: expected a list, found {describe(entries)}")
    names = entries or []
    if (name in names) is present:
        return text
    if present:
        return _JSON.put(text, path, [*names, name])
    return _JSON.put(text, path, [each for each in names if each != name])


def _in_map(ref: ClientScopeRef, text: str, name: str, *, enabled: bool) -> str:
    path = (*ref.scope.switch.off, name, "enabled")
    present = value_at(_JSON.parse(text).value, path)
    if present is enabled or (enabled and present is None):
        return text
    return _JSON.put(text, path, enabled)


def _warnings(ref: ClientScopeRef, *, enabled: bool) -> tuple[Warned, ...]:
    relocated = Warned(WarningKind.RELOCATED, "enabled", "", f"stored in {switch_words(ref)}")
    trust = ref.scope.switch.trust
    if enabled and trust:
        return relocated, Warned(WarningKind.NEEDS_TRUST, "enabled", "", trust)
    return (relocated,)


def _refuse(message: str) -> EditRefused:
    return EditRefused.of(Problem("enabled", message))
