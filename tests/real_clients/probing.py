"""Tables of what a program accepts, made of its answers about one word and one kind at a time."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

from mcpyard.formats.value_facts import Harm, Kind, Values, kind_of, values_at
from tests.real_clients.oracles import DISABLED, ENABLED, ask
from tests.real_clients.plans import ADDRESS, PLANS, SAMPLES, Plan

_USED = frozenset({ENABLED, DISABLED})


class Probe(NamedTuple):
    """A question: a word, and a kind of value; no kind for a word that is left out."""

    side: str
    word: str
    kind: Kind | None
    text: str
    entry: object


def tables(which: str) -> tuple[Values, dict[str, dict[str, Values]]]:
    """What a program accepts as an entry, and the tables of both sides."""
    probes = [*_probes(PLANS[which])]
    answers = ask(which, {f"e{number}": probe.entry for number, probe in enumerate(probes)})
    by_word: dict[tuple[str, str], list[tuple[Probe, str]]] = {}
    for number, probe in enumerate(probes):
        by_word.setdefault((probe.side, probe.word), []).append((probe, answers[f"e{number}"]))
    sides: dict[str, dict[str, Values]] = {"local": {}, "remote": {}}
    for (side, word), answered in by_word.items():
        if side and any(answer not in _USED for _, answer in answered):
            sides[side][word] = _values(answered)
    for side, table in sides.items():
        of_side = [(number, probe) for number, probe in enumerate(probes) if probe.side == side]
        _spread_upwards(table, [each for number, each in of_side if answers[f"e{number}"] in _USED])
    entry = _values(by_word["", ""])
    return replace(entry, accepts=entry.accepts | {Kind.PAIRS, Kind.MEMBERS}), sides


def _spread_upwards(table: dict[str, Values], accepted: list[Probe]) -> None:
    """Let what holds an accepted value be accepted, and forget what can never be looked at."""
    for probe in accepted:
        for holder in _holders(probe.word):
            if holder in table:
                kinds = {kind_of(value) for _, value in values_at(probe.entry, holder)}
                table[holder] = replace(table[holder], accepts=table[holder].accepts | kinds)
    for word in [*table]:
        if any(holder in table and not table[holder].accepts for holder in _holders(word)):
            del table[word]


def _holders(word: str) -> Iterator[str]:
    """The words that hold a word: `a[].b` stands in `a[]`, which stands in `a`."""
    while word.endswith("[]") or "." in word:
        word = word.removesuffix("[]") if word.endswith("[]") else word.rpartition(".")[0]
        yield word


def placed(base: Mapping[str, object], path: str, value: object) -> dict[str, object]:
    """An entry with a value at a path of a table."""
    entry: Any = copy.deepcopy(dict(base))
    node = entry
    steps = path.split(".")
    for number, step in enumerate(steps):
        name = "A" if step == "*" else step.removesuffix("[]")
        last = number == len(steps) - 1
        if step.endswith("[]"):
            if last:
                node[name] = [value]
            else:
                items = node.setdefault(name, [{}])
                node = items[0]
        elif last:
            node[name] = copy.deepcopy(value)
        else:
            node = node.setdefault(name, {})
    return entry


def _probes(plan: Plan) -> Iterator[Probe]:
    samples = {
        kind: values[0] for kind, values in SAMPLES.items() if plan.null or values != (None,)
    }
    for kind in samples.keys() - {Kind.PAIRS, Kind.MEMBERS}:
        yield Probe("", "", kind, "", samples[kind])
    for side, base in (("local", plan.local), ("remote", plan.remote)):
        for word, texts in plan.field_names.items():
            around = {**base, **plan.around.get(word, {})}
            for kind, value in samples.items():
                yield Probe(
                    side, word, kind, "", placed(around, word, _sample(plan, word, kind, value))
                )
            for text in texts:
                yield Probe(side, word, Kind.TEXT, text, placed(around, word, text))
            if word in base or word in plan.without:
                yield Probe(side, word, None, "", _without(around, word))


def _sample(plan: Plan, word: str, kind: Kind, value: object) -> object:
    if kind is Kind.ADDRESS:
        workable = plan.workable.get(word)
        return workable if kind_of(workable) is Kind.ADDRESS else ADDRESS
    if kind in {Kind.TEXT, Kind.TEXTS} and isinstance(plan.workable.get(word), type(value)):
        return plan.workable[word]
    return {**plan.beside.get(word, {}), **value} if isinstance(value, dict) else value


def _without(around: Mapping[str, object], word: str) -> dict[str, object]:
    entry = placed(around, word, None)
    node = cast("Any", entry)
    *above, last = word.split(".")
    for step in above:
        node = node[step.removesuffix("[]")]
        node = node[0] if step.endswith("[]") else node
    del node[last]
    return entry


def _values(answered: list[tuple[Probe, str]]) -> Values:
    kinds = {probe.kind: answer for probe, answer in answered if probe.kind and not probe.text}
    texts = {probe.text for probe, answer in answered if probe.text and answer in _USED}
    accepts = {kind for kind, answer in kinds.items() if answer in _USED}
    limited = bool(texts) and Kind.TEXT not in accepts
    refused = {kind: answer for kind, answer in kinds.items() if answer not in _USED}
    harms = {*refused.values()}
    harm = Harm(max(harms, key=[*refused.values()].count)) if harms else Harm.ENTRY
    missing = [answer for probe, answer in answered if probe.kind is None and answer not in _USED]
    both = len(harms) > 1
    return Values(
        frozenset(accepts | ({Kind.TEXT} if limited else set())),
        Harm.ENTRY if both else harm,
        frozenset(texts) if limited else frozenset(),
        Harm(missing[0]) if missing else None,
        frozenset(kind for kind, answer in refused.items() if both and answer == Harm.FILE),
    )
