"""Entries as people could have written them, right and wrong, the same ones each time."""

import copy
import json
import random
from collections.abc import Iterator

from mcpyard.formats.value_facts import Kind
from tests.real_clients.plans import ADDRESS, PLANS, RUN, SAMPLES, Plan
from tests.real_clients.probing import placed

COUNTS = {
    "codex": 300,
    "opencode": 300,
    "opencode-2": 100,
    "claude": 50,
    "gemini": 50,
    "copilot": 50,
}
SEED = 21
_FOREIGN = ("x-note", "alwaysAllow", "transport", "headers", "enabled", "type", "env", "url")


def drawn(which: str, seed: int = SEED) -> list[object]:
    """The entries to ask a program about, no two alike."""
    entries: dict[str, object] = {}
    # Drawn for tests, not for secrets.
    for entry in _draw(PLANS[which], random.Random(f"{which}{seed}")):  # noqa: S311
        entries.setdefault(json.dumps(entry), entry)
        if len(entries) == COUNTS[which]:
            break
    return [*entries.values()]


def _draw(plan: Plan, chance: random.Random) -> Iterator[object]:
    words = [*plan.field_names]
    yield from _fixed(plan)
    while True:
        base = plan.local if chance.random() < 0.5 else plan.remote
        entry = copy.deepcopy(dict(base))
        for word in chance.sample(words, chance.choice((1, 1, 1, 2, 3))):
            entry = _changed(plan, entry, word, chance)
        if chance.random() < 0.15:
            entry.setdefault(chance.choice(_FOREIGN), chance.choice(("x", {"A": "x"}, True)))
        if chance.random() < 0.1:
            entry.pop(chance.choice([*base]), None)
        races = base is plan.remote and any(word in entry for word in plan.racing)
        # A program that tells nothing but whether it runs is asked about commands that do.
        runs = not plan.runs or not isinstance(entry.get("command"), str) or entry["command"] == RUN
        if runs and not races and (plan.null or "null" not in json.dumps(entry)):
            yield entry


def _fixed(plan: Plan) -> Iterator[object]:
    """What is no entry, the entries of both sides, and those between."""
    yield from ({}, 5, "x", [], True, dict(plan.local), dict(plan.remote))
    yield {**plan.local, **plan.remote}
    yield {**plan.remote, **plan.local}
    for base in (plan.local, plan.remote):
        yield from ({key: value} for key, value in base.items())
        yield {**base, "enabled": False}
        yield {**base, "disabled": True}
    yield from plan.known


def _changed(
    plan: Plan, entry: dict[str, object], word: str, chance: random.Random
) -> dict[str, object]:
    """An entry with one more word, whose value is right in about every second case."""
    limited = plan.field_names[word]
    if limited and chance.random() < 0.5:
        value: object = chance.choice(limited)
    elif "." not in word and word in plan.workable and chance.random() < 0.5:
        value = plan.workable[word]
    else:
        kinds = [each for each in SAMPLES if plan.null or each is not Kind.NULL]
        value = chance.choice(SAMPLES[chance.choice(kinds)])
        if value == SAMPLES[Kind.ADDRESS][0]:
            value = ADDRESS
    if isinstance(value, dict) and chance.random() < 0.5:
        value = {**plan.beside.get(word, {}), **value}
    try:
        return placed(entry, word, value)
    except (AttributeError, TypeError, IndexError, KeyError):
        return entry
