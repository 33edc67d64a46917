"""Our verdicts beside those of the real programs, and the tables that ours are made of.

`python -m tests.real_clients.differential [--write] [--seed N] [PROGRAM...]` asks the installed
programs about drawn entries and compares; where a program has another version than its facts, it
asks for its table too and tells what drifted. With --write, the tables and the recorded answers are
replaced. Another seed draws other entries.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from mcpyard.formats.value_facts import Harm, Kind, ValueFacts, Values
from tests.real_clients.drawing import SEED, drawn
from tests.real_clients.oracles import ask, version
from tests.real_clients.plans import PLANS, Plan
from tests.real_clients.probing import tables
from tests.real_clients.verdicts import FACTS, RECORDED, TITLES, verdict

_MODULES = Path(__file__).parents[2] / "src" / "mcpyard" / "formats" / "accepted"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("programs", nargs="*", default=[*PLANS])
    options = parser.parse_args(arguments)
    names = options.programs
    chosen = [which for which in PLANS if which in names or which.partition("-")[0] in names]
    return max([_prove(which, options.seed, write=options.write) for which in chosen])


def _prove(which: str, seed: int, *, write: bool) -> int:
    facts, installed = FACTS[which], version(which)
    print(f"{which}: version {installed}, facts of {facts.version}", flush=True)
    drifted = installed != facts.version
    if write or drifted:
        entry, sides = tables(which)
        fresh = _facts(PLANS[which], installed, entry, sides)
        for line in _drift(facts, fresh):
            print(f"  drifted: {line}")
        if write:
            _write_module(which, fresh)
            facts = fresh
    answers = _compare(which, facts, seed)
    wrong = sum(answer != verdict(which, entry, facts) for entry, answer in answers)
    if write:
        record = {"version": installed, "seed": seed, "answers": answers}
        lines = json.dumps(record, ensure_ascii=False).replace("], [", "],\n[")
        (RECORDED / f"{which}.json").write_text(lines + "\n")
    return int(wrong > 0 or (drifted and not write))


def _compare(which: str, facts: ValueFacts, seed: int) -> list[tuple[object, str]]:
    entries = {f"e{number}": entry for number, entry in enumerate(drawn(which, seed))}
    answers = ask(which, entries)
    both: Counter[str] = Counter()
    for name, entry in entries.items():
        ours, theirs = verdict(which, entry, facts), answers[name]
        both["agree" if ours == theirs else f"ours {ours}, theirs {theirs}"] += 1
        if ours != theirs:
            print(f"  {ours} here, {theirs} there: {json.dumps(entry)}")
    counts = ", ".join(f"{words}: {count}" for words, count in sorted(both.items()))
    print(f"  {len(entries)} entries; {counts}", flush=True)
    return [(entry, answers[name]) for name, entry in entries.items()]


def _facts(
    plan: Plan, installed: str, entry: Values, sides: Mapping[str, dict[str, Values]]
) -> ValueFacts:
    local, remote = sides["local"], sides["remote"]
    if plan.address_first:
        # With an address it is no local entry, and without one no remote one.
        local = {word: each for word, each in local.items() if word not in plan.addresses}
        remote = {word: replace(each, missing=None) for word, each in remote.items()}
    remote = {**remote, **{word: local[word] for word in plan.racing}}
    return ValueFacts(
        installed,
        entry,
        local,
        remote,
        frozenset(plan.remote_types),
        frozenset(plan.local_types),
        plan.addresses,
        plan.address_first,
        plan.needs,
        plan.rescued_by,
        off=plan.off,
    )


def _drift(old: ValueFacts, new: ValueFacts) -> Iterator[str]:
    for side in ("local", "remote"):
        before, after = getattr(old, side), getattr(new, side)
        for word in sorted({*before, *after}):
            if before.get(word) != after.get(word):
                old_values, new_values = (_spelled(each.get(word)) for each in (before, after))
                yield f"{side} {word}: {old_values} is now {new_values}"


def _write_module(which: str, facts: ValueFacts) -> None:
    both = {word: each for word, each in facts.local.items() if facts.remote.get(word) == each}
    parts = [
        f'"""What {TITLES[which]} {facts.version} accepts; ',
        'written by `scripts/prove real_clients --write`."""\n\n',
        "from typing import Final\n\n",
        "from mcpyard.formats.value_facts import Harm, Needs, ValueFacts, Values, all_but, kinds\n",
        f"_BOTH: Final[dict[str, Values]] = {_spelled_table(both)}\n\n",
        "FACTS: Final = ValueFacts(\n",
    ]
    for each in fields(ValueFacts):
        value = getattr(facts, each.name)
        if each.name in {"local", "remote"}:
            own = {word: values for word, values in value.items() if word not in both}
            text = "{**_BOTH, " + _spelled_table(own)[1:]
        elif each.name == "entry":
            text = _spelled(value)
        elif each.name == "needs":
            text = "(" + "".join(f"{_need(need)}," for need in value) + ")"
        else:
            text = f"frozenset({sorted(value)!r})" if isinstance(value, frozenset) else repr(value)
        if value != each.default and value is not None:
            parts.append(f"{each.name}={text},\n")
    path = _MODULES / f"{which.replace('-', '_')}.py"
    path.write_text("".join([*parts, ")\n"]))
    for command in (["format"], ["check", "--fix"], ["format"]):
        subprocess.run([sys.executable, "-m", "ruff", *command, "--quiet", path], check=True)


def _need(need: Any) -> str:  # noqa: ANN401  a `Needs`
    value = f", {need.value!r}" if need.value else ""
    return f"Needs({need.word!r}, {need.other!r}, Harm.{need.harm.name}{value})"


def _spelled_table(table: Mapping[str, Values]) -> str:
    return "{" + "".join(f"{word!r}: {_spelled(each)}," for word, each in table.items()) + "}"


def _spelled(values: Values | None) -> str:
    if values is None:
        return "not looked at"
    parts = [_spelled_kinds(values.accepts)]
    if values.harm is not Harm.ENTRY:
        parts.append(f"Harm.{values.harm.name}")
    if values.texts:
        parts.append(f"texts=frozenset({sorted(values.texts)!r})")
    if values.missing:
        parts.append(f"missing=Harm.{values.missing.name}")
    if values.worse:
        parts.append(f"worse={_spelled_kinds(values.worse)}")
    return f"Values({', '.join(parts)})"


def _spelled_kinds(accepted: frozenset[Kind]) -> str:
    rest = frozenset(Kind) - accepted
    if len(rest) < len(accepted):
        return f'all_but("{" ".join(sorted(rest))}")'
    return f'kinds("{" ".join(sorted(accepted))}")'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
