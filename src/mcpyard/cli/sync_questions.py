"""What a sync asks the person at the terminal: about conflicts, and whose entry counts."""

import sys
from collections.abc import Mapping
from typing import Final

from mcpyard.cli.output import clean
from mcpyard.cli.printing import JsonObject

_WORDS: Final[Mapping[str, str]] = {
    "theirs": "keep theirs",
    "ours": "take ours",
    "adopt": "adopt theirs into the source",
}
_ASKED: Final = frozenset({"conflict", "foreign", "deleted-outside"})


def ask_conflicts(plan: JsonObject) -> list[JsonObject]:
    """The decisions about entries that need one; no answer leaves an entry alone."""
    decisions: list[JsonObject] = []
    for cell in plan["cells"]:
        if cell["state"] not in _ASKED or not cell["choices"]:
            continue
        print(clean(f"{cell['server']} in {cell['target']}: {cell['reason']}"), file=sys.stderr)
        choice = _choose({word: _WORDS[word] for word in cell["choices"]})
        if choice:
            members = {key: cell[key] for key in ("server", "target", "seen")}
            decisions.append(members | {"choice": choice})
    return decisions


def ask_variant(adoption: JsonObject) -> dict[str, str]:
    """For each name that is defined differently, the client whose entry counts."""
    chosen: dict[str, str] = {}
    for each in adoption["servers"]:
        if each["outcome"] == "conflict":
            print(clean(f"{each['name']}: {each['reason']}"), file=sys.stderr)
            target = _choose({target: target for target in each["targets"]})
            if target:
                chosen[each["name"]] = target
    return chosen


def _choose(options: Mapping[str, str]) -> str:
    """One of some options, by its number; anything else is none of them."""
    for number, text in enumerate(options.values(), 1):
        print(f"  {number}) {clean(text)}", file=sys.stderr)
    print("Choose a number, or press Enter to skip: ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip()
    if not answer.isdecimal() or not 1 <= int(answer) <= len(options):
        return ""
    return [*options][int(answer) - 1]
