"""Changing an entry by a merge patch in neutral words, the same for every client.

`null` removes, an object is merged member by member, anything else replaces. A value that was
shown masked and comes back masked means: keep what is there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from mcpyard.domain.definition import checks
from mcpyard.domain.definition.merge import is_mask, kept_args, kept_text
from mcpyard.domain.definition.parsing import describe
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.narrowing import is_array, is_mapping, is_sequence
from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.entry_values import READERS, Wrong, text, time
from mcpyard.formats.facts import EntryTransport, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.transport_change import without_other_side

WORDS: Final[Mapping[Field, str]] = {
    Field.TYPE: "type",
    Field.COMMAND: "command",
    Field.ARGS: "args",
    Field.ENV: "env",
    Field.CWD: "cwd",
    Field.URL: "url",
    Field.HEADERS: "headers",
    Field.CALL_TIMEOUT: "timeout",
    Field.START_TIMEOUT: "startTimeout",
    Field.ONLY_TOOLS: "onlyTools",
    Field.EXCEPT_TOOLS: "exceptTools",
    Field.ENV_VARS: "envVars",
    Field.ENV_HEADERS: "envHeaders",
    Field.BEARER: "bearerTokenEnvVar",
}
"""The neutral word of each field; `enabled` and `name` are no fields of an entry."""

_FIELDS: Final = {word: name for name, word in WORDS.items()}
_PAIRS: Final = frozenset({Field.ENV, Field.HEADERS, Field.ENV_HEADERS})
_TIMES: Final = frozenset({Field.CALL_TIMEOUT, Field.START_TIMEOUT})


def patched(entry: Entry, patch: Mapping[str, object], ref: ClientScopeRef) -> Entry:
    """An entry changed by a patch.

    Raises:
        DefinitionError: A word or a value that cannot be, or an entry that its program would not
            use any more.
    """
    values: dict[str, Any] = {}
    for word, value in patch.items():
        name = _field(word, value, ref)
        values[name.value] = _value(name, word, getattr(entry, name), value)
    changed = replace(entry, **values)
    # What is left of the other transport is removed, and told, where the entry is written.
    fitting, _ = without_other_side(entry, changed, ref.shape)
    before = _problems(entry, ref)
    if fitting.command is not None and fitting.url is not None:
        message = "conflicts with command; set only one of them"
        raise DefinitionError.of(Problem(WORDS[Field.URL], message))
    if not before and (problems := _problems(fitting, ref)):
        raise DefinitionError.of(*problems)
    refuse_unfit(changed, unless=entry)
    return changed


def refuse_unfit(entry: Entry, *, unless: Entry | None = None) -> None:
    """Refuse to write down texts that no process can be given.

    Args:
        entry: What is to be written.
        unless: What is there already; what is wrong with that alone is nobody's doing here.

    Raises:
        DefinitionError: There are such texts; names their fields.
    """
    present = frozenset(_unfit(unless)) if unless else frozenset[Problem]()
    if fresh := [each for each in _unfit(entry) if each not in present]:
        raise DefinitionError.of(*fresh)


def _field(word: str, value: object, ref: ClientScopeRef) -> Field:
    name = _FIELDS.get(word)
    if name is None:
        editable = ", ".join(("name", "enabled", *_FIELDS))
        raise DefinitionError.of(
            Problem(word[:80], f"cannot be changed; editable fields: {editable}")
        )
    if value is not None and name not in ref.shape.field_names:
        raise DefinitionError.of(Problem(word, f"not supported by {ref.client.title}"))
    return name


def _value(name: Field, word: str, old: object, new: object) -> object:
    if new is None:
        return None
    if name in {Field.URL, Field.COMMAND} and isinstance(new, str):
        return _read(name, word, kept_text(word, new, old))
    if name is Field.ARGS and is_array(new):
        return _read(name, word, kept_args(new, cast("Sequence[str]", old or ())))
    if name in _PAIRS:
        return _merged(word, cast("Mapping[str, str]", old or {}), new)
    return _read(name, word, new)


def _merged(word: str, old: Mapping[str, str], new: object) -> Mapping[str, str] | None:
    if not is_mapping(new):
        return _read(Field.ENV, word, new)
    pairs = dict(old)
    for key, value in new.items():
        if value is None:
            pairs.pop(key, None)
        elif not is_mask(value):
            pairs[key] = _read_text(f"{word}.{key}", value)
        elif key not in old:
            problem = Problem(f"{word}.{key}", "is masked, but no value is stored")
            raise DefinitionError.of(problem)
    return pairs or None


def _read(name: Field, word: str, value: object) -> Any:  # noqa: ANN401  as the field has it
    try:
        if name in _TIMES:
            return _milliseconds(value)
        return EntryTransport(text(value)) if name is Field.TYPE else READERS[name](value)
    except Wrong as wrong:
        raise DefinitionError.of(Problem(word + wrong.where, wrong.message)) from None
    except ValueError:
        expected = ", ".join(EntryTransport)
        raise DefinitionError.of(Problem(word, f"is unknown; expected one of {expected}")) from None


def _milliseconds(value: object) -> float:
    duration = time(value)
    if duration < 1:
        raise Wrong(f"must be at least 1, in milliseconds, found {describe(value)}")
    return duration


def _read_text(where: str, value: object) -> str:
    try:
        return text(value)
    except Wrong as wrong:
        raise DefinitionError.of(Problem(where, wrong.message)) from None


def _problems(entry: Entry, ref: ClientScopeRef) -> tuple[Problem, ...]:
    return understand(spell(entry, ref.shape), ref.client, ref.shape).problems


def _unfit(entry: Entry) -> Iterator[Problem]:
    for name, value in entry.set_fields().items():
        for where, each in _strings(WORDS.get(name, name), value):
            if fault := checks.text_fault(each):
                yield Problem(where, fault)


def _strings(where: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text of a field, with the way to it."""
    if isinstance(value, str):
        yield where, value
    elif is_sequence(value):
        for index, each in enumerate(value):
            yield f"{where}[{index}]", str(each)
    elif is_mapping(value):
        for key, each in value.items():
            yield f"{where}.{key}", f"{key}{each}"
