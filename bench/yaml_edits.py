"""How long one guarded edit of YAML files takes, measured in readings of them by PyYAML's C loader.

Run with `python -m bench.yaml_edits`; it ends with 1 if an edit is slower than its limit.
"""

import sys
from collections.abc import Callable

import yaml

from bench.jsonc import best_of
from mcpyard.formats.editors.yaml import parse, remove_member, rename_member, set_member

SIZES = (20_000, 1_000_000)
LIMIT = 10.0
SERVER = {"command": "npx", "args": ["-y", "@example/server"], "env": {"TOKEN": "t"}, "timeout": 20}


def main() -> int:
    print(f"{'edit':34} {'kB':>6} {'loads ms':>9} {'edit ms':>9} {'ratio':>6} {'limit':>6}")
    slow = False
    for size in SIZES:
        text, count = hermes_like(size)
        # A short text is read by the parser in Python as well, which takes most of the time.
        limit = LIMIT if size > max(SIZES[:-1]) else 10 * LIMIT
        for name, edit in edits(text, count):
            loads, took = best_of(lambda text=text: yaml.load(text, yaml.CSafeLoader), edit)
            slow |= took > limit * loads
            figures = f"{loads * 1e3:9.1f} {took * 1e3:9.1f} {took / loads:6.2f} {limit:6.1f}"
            print(f"{name:34} {len(text) / 1e3:6.0f} {figures}")
    return int(slow)


def edits(text: str, count: int) -> list[tuple[str, Callable[[], object]]]:
    last = ("mcp_servers", f"server-{count - 1}")
    return [
        ("read", lambda: parse(text)),
        ("add a server", lambda: set_member(text, ("mcp_servers", "new"), SERVER)),
        ("change the last server", lambda: set_member(text, last, {**SERVER, "timeout": 5})),
        ("remove the first server", lambda: remove_member(text, ("mcp_servers", "server-0"))),
        ("rename the last server", lambda: rename_member(text, last, "renamed")),
    ]


def hermes_like(size: int) -> tuple[str, int]:
    parts = ["# settings\nmodel: large\nmcp_servers:\n"]
    written = count = 0
    while written < size:
        part = f"""  # number {count}
  server-{count}:
    command: npx
    args: ["-y", '@example/server']  # no questions
    env:
      TOKEN: t
    timeout: 20

"""
        parts.append(part)
        written += len(part)
        count += 1
    return "".join(parts), count


if __name__ == "__main__":
    sys.exit(main())
