"""One warning per loss: a copy names no field twice, whichever programs it is between."""

import contextlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pytest

from mcpyard.domain.errors import YardError
from mcpyard.formats.copying.matrix import SPEC_CLIENTS, Matrix
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import Client, EntryTransport
from mcpyard.formats.fields import LOCAL_FIELDS, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import client_of
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.yard.clients.operations import Copying
from mcpyard.yard.clients.workspace import Workspace
from tests.clients.program_files import PROGRAMS, laid, scopes

LOST = {WarningKind.UNSUPPORTED, WarningKind.UNUSABLE}
BOTH = {
    Field.ENABLED: False,
    Field.CALL_TIMEOUT: 1500,
    Field.START_TIMEOUT: 2500,
    Field.ONLY_TOOLS: ("a",),
    Field.EXCEPT_TOOLS: ("b",),
}
LOCAL = BOTH | {
    Field.TYPE: EntryTransport.STDIO,
    Field.COMMAND: "run",
    Field.ARGS: ("-v", "{0}"),
    Field.ENV: {"A": "{0}", "B": "x-{1}"},
    Field.ENV_VARS: ("C",),
    Field.CWD: "/srv",
}
REMOTE = BOTH | {
    Field.TYPE: EntryTransport.SSE,
    Field.URL: "https://h.example/{0}",
    Field.HEADERS: {"Authorization": "Bearer {0}", "X-Key": "{1}"},
    Field.ENV: {"A": "{0}"},
    Field.ENV_HEADERS: {"X-Other": "C"},
    Field.BEARER: "T",
}
PLAIN = {"local": Entry(command="old"), "remote": Entry(url="https://old.example/")}


def rich(ref: ClientScopeRef, fields: Mapping[Field, object]) -> Entry:
    """An entry with every field that a program has, and references in its own syntax."""
    dialect = ref.client.dialect.reference
    references = [dialect.format(name) if dialect else name for name in ("A", "B")]
    shape = ref.shape
    refused = LOCAL_FIELDS if shape.exclusive and Field.URL in fields else frozenset[Field]()
    held = {
        name.value: _filled(value, references)
        for name, value in fields.items()
        if name in shape.field_names.keys() - refused
        and (name is not Field.TYPE or value in shape.types)
    }
    return replace(Entry(unknown={"x-more": {"a": 1}}), **held)


def _filled(value: object, references: list[str]) -> object:
    if isinstance(value, str) and not isinstance(value, EntryTransport):
        return value.replace("{0}", references[0]).replace("{1}", references[1])
    if isinstance(value, dict):
        return {key: _filled(each, references) for key, each in value.items()}
    return tuple(_filled(each, references) for each in value) if isinstance(value, tuple) else value


def head(warned: Warned) -> str:
    return warned.field.split(".")[0].split("[")[0]


def repeated(warnings: list[Warned]) -> list[str]:
    """The fields that two warnings of one kind name, and lost ones that another names too."""
    named = Counter((each.kind, each.field) for each in warnings if each.field)
    twice = [field for (_, field), count in named.items() if count > 1]
    lost = {each.field for each in warnings if each.kind in LOST and each.field}
    beside = [
        each.field
        for each in warnings
        if each.kind not in LOST and (each.field in lost or head(each) in lost)
    ]
    meanings = Counter((each.kind, each.message) for each in warnings if _is_of_all(each))
    return twice + beside + [message for (_, message), count in meanings.items() if count > 1]


def _is_of_all(warned: Warned) -> bool:
    """Whether it tells of the entry or its switch, which only one sentence can be about."""
    return not warned.field or warned.kind in {WarningKind.RELOCATED, WarningKind.NEEDS_TRUST}


CASES = [
    (target, present, matrix)
    for client in PROGRAMS
    for number, target in enumerate(scopes(client))
    # The scopes of a program differ in their switches alone, not in what they replace.
    for present in ((None,) if number else (None, *PLAIN))
    for matrix in (Matrix if client.id in SPEC_CLIENTS else (Matrix.NATIVE,))
]


@pytest.mark.parametrize("source", PROGRAMS, ids=lambda each: each.id)
def test_a_copy_between_any_two_programs_tells_each_loss_once(source: Client) -> None:
    origin = next(scopes(source))
    repetitions: dict[str, list[str]] = {}
    copied = 0
    for kind, fields in (("local", LOCAL), ("remote", REMOTE)):
        texts = laid(origin, rich(origin.ref, fields))
        for target, present, matrix in CASES:
            if target.ref.client.id == source.id:
                continue
            with contextlib.suppress(YardError):
                # What a program cannot have is refused, with nothing lost.
                workspace = Workspace(texts | (laid(target, PLAIN[present]) if present else {}))
                Copying(origin, target, "s", "s", matrix, replace=True).do(workspace)
                copied += 1
                if twice := repeated(workspace.warnings):
                    repetitions[f"{kind} to {target.ref} ({matrix}) over {present}"] = twice
    assert not repetitions
    assert copied > len(CASES) / 2


def test_a_copy_over_another_entry_keeps_what_it_keeps_in_an_empty_place() -> None:
    source, target = (next(scopes(client_of(each))) for each in ("continue", "gemini"))
    texts = laid(source, rich(source.ref, REMOTE))
    results: list[object] = []
    for present in ({}, laid(target, PLAIN["local"])):
        workspace = Workspace(texts | present)
        Copying(source, target, "s", "s", replace=True).do(workspace)
        entry, _ = target.entry(workspace, "s")
        results.append((entry, workspace.warnings))
    assert results[0] == results[1]
