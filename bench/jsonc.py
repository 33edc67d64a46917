"""How long one guarded edit of a 5 MB file takes, measured in readings of it by the C decoder.

Run with `python -m bench.jsonc`; it ends with 1 if an edit is slower than its limit.
"""

import gc
import json
import re
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

from mcpyard.formats.editors.jsonc import Path, remove_member, rename_member, set_member

SIZE = 5_000_000
STRICT_LIMIT = 5.0
COMMENTS_LIMIT = 15.0
RUNS = 7

SERVER = {"command": "npx", "args": ["-y", "@example/server", "--stdio"], "env": {"TOKEN": "t"}}
WORDS = (
    "fix",
    "the test",
    "that fails",
    "when a café",
    "closes",
    "https://example.org/",
    "(early)",
)


class Case(NamedTuple):
    name: str
    limit: float
    text: str
    loads: Callable[[], object]


def main() -> int:
    value = claude_like()
    projects = tuple(value["projects"])
    strict = json.dumps(value, indent=2, ensure_ascii=False)
    with_comments = commented(strict)
    cases = (
        Case("JSON", STRICT_LIMIT, strict, lambda: json.loads(strict)),
        Case("JSONC", COMMENTS_LIMIT, with_comments, lambda: json.loads(strict)),
    )
    print(f"{len(strict) / 1e6:.1f} MB")
    print(f"{'text':6} {'edit':34} {'loads ms':>9} {'edit ms':>9} {'ratio':>6} {'limit':>6}")
    slow = [measured(case, projects) for case in cases]
    return int(any(slow))


def measured(case: Case, projects: tuple[str, ...]) -> bool:
    slow = False
    for name, edit in edits(case.text, projects):
        loads, took = best_of(case.loads, edit)
        slow |= took > case.limit * loads
        figures = f"{loads * 1e3:9.1f} {took * 1e3:9.1f} {took / loads:6.2f} {case.limit:6.1f}"
        print(f"{case.name:6} {name:34} {figures}")
    return slow


def edits(text: str, projects: tuple[str, ...]) -> list[tuple[str, Callable[[], str]]]:
    first = ("mcpServers", "github")
    early: Path = ("projects", projects[0], "mcpServers", "local")
    late: Path = ("projects", projects[-1], "mcpServers", "local")
    changed = {**SERVER, "args": ["-y", "@example/server@2"]}
    return [
        ("set near the beginning", lambda: set_member(text, first, changed)),
        ("add near the beginning", lambda: set_member(text, ("mcpServers", "new"), SERVER)),
        ("remove near the beginning", lambda: remove_member(text, first)),
        ("set in the first project", lambda: set_member(text, early, changed)),
        ("set in the last project", lambda: set_member(text, late, changed)),
        ("add to the last project", lambda: set_member(text, (*late[:-1], "new"), SERVER)),
        ("remove from the last project", lambda: remove_member(text, late)),
        ("rename in the last project", lambda: rename_member(text, late, "renamed")),
        ("add at the top", lambda: set_member(text, ("added",), SERVER)),
        ("set what is equal", lambda: set_member(text, late, SERVER)),
    ]


def claude_like() -> dict[str, Any]:
    projects: dict[str, object] = {}
    size = 0
    while size < SIZE:
        project = one_project(len(projects))
        projects[f"work/number-{len(projects)}"] = project
        size += len(json.dumps(project, indent=2, ensure_ascii=False))
    return {
        "numStartups": 412,
        "theme": "dark",
        "tips": {"a": 1, "b": 2.5},
        "mcpServers": {"github": SERVER, "files": SERVER},
        "projects": projects,
    }


def one_project(number: int) -> dict[str, object]:
    return {
        "allowedTools": ["Bash(ls:*)", "Read"],
        "history": [
            {"display": " ".join(WORDS[i % 7] for i in range(turn % 40 + 2)), "pasted": {}}
            for turn in range(number, number + 100)
        ],
        "mcpServers": {"local": SERVER},
        "hasTrustDialogAccepted": True,
        "lastCost": number / 7,
        "lastDuration": number,
    }


def commented(text: str) -> str:
    """The same text with a comment at the top, above each project, and trailing commas."""
    text = re.sub(r'^( *)("work/)', r"\1// a project of someone's\n\1\2", text, flags=re.MULTILINE)
    text = re.sub(r'("lastDuration": \d+)', r"\1, /* milliseconds */", text)
    return "// settings\n" + text


def best_of(*works: Callable[[], object]) -> list[float]:
    """The best time of each, taken by turns: a busy moment of the machine hits them alike."""
    turns = [[timed(work) for work in works] for _ in range(RUNS)]
    return [min(times) for times in zip(*turns, strict=True)]


def timed(work: Callable[[], object]) -> float:
    gc.collect()
    start = perf_counter()
    work()
    return perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
