"""What we make of an entry beside one that is right, in the words of the programs' answers."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from mcpyard.formats.effective import Text, judge
from mcpyard.formats.facts import Client
from mcpyard.formats.locations import ClientFolders
from mcpyard.formats.registry import client_of
from mcpyard.formats.value_facts import ValueFacts
from tests.real_clients.oracles import DISABLED, ENABLED, ENTRY, FILE, FILES, WITNESS, content

RECORDED = Path(__file__).parents[1] / "formats" / "clients" / "recorded"
_HOME = "/home/ann"
_SHAPES = {"opencode-2": 1}


def _facts(which: str) -> ValueFacts:
    facts = client_of(which.partition("-")[0]).shapes[_SHAPES.get(which, 0)].accepts
    assert facts is not None
    return facts


WHICH = ("codex", "opencode", "opencode-2", "claude", "copilot", "gemini")
FACTS: Mapping[str, ValueFacts] = {which: _facts(which) for which in WHICH}
TITLES = {
    which: client_of(which.partition("-")[0]).title
    + (" (schema 2)" if which == "opencode-2" else "")
    for which in WHICH
}


def recorded(which: str) -> tuple[str, list[tuple[object, str]]]:
    """The version of a program, and its answers about entries."""
    record = json.loads((RECORDED / f"{which}.json").read_text())
    return record["version"], [(entry, answer) for entry, answer in record["answers"]]


def verdict(which: str, entry: object, facts: ValueFacts | None = None) -> str:
    """Our answer about an entry, by these facts or our own."""
    program = which.partition("-")[0]
    client = _with(client_of(program), which, facts or FACTS[which])
    path = f"{_HOME}/{FILES[program]}"
    texts = {path: Text(path, content(which, {"e": entry}))}
    missing = (Text("/nowhere/at-all"), Text(f"{_HOME}/nowhere"))
    texts |= {each.path: each for each in missing}
    statuses = judge(client, ClientFolders({}, _HOME), texts).statuses
    states = {each.listed.name: str(each.state) for each in statuses}
    if states[WITNESS] != ENABLED:
        return FILE
    return states["e"] if states["e"] in {ENABLED, DISABLED} else ENTRY


def _with(client: Client, which: str, facts: ValueFacts) -> Client:
    number = _SHAPES.get(which, 0)
    shapes = [*client.shapes]
    shapes[number] = replace(shapes[number], accepts=facts)
    return replace(client, shapes=tuple(shapes))
