"""How long one guarded edit of a 200 kB TOML file takes, measured in readings of it by `tomllib`.

Run with `python -m bench.toml`; it ends with 1 if an edit is slower than its limit.
"""

import sys
import tomllib
from collections.abc import Callable

from bench.jsonc import best_of
from mcpyard.formats.editors.toml import put_table, remove_table, rename_table, set_value

SIZE = 200_000
LIMIT = 10.0
SERVER = {
    "command": "npx",
    "args": ["-y", "@example/server", "--stdio"],
    "startup_timeout_sec": 20.0,
    "env": {"TOKEN": "t"},
}


def main() -> int:
    text, count = codex_like()
    print(f"{len(text) / 1e3:.0f} kB, {count} servers")
    print(f"{'edit':34} {'loads ms':>9} {'edit ms':>9} {'ratio':>6} {'limit':>6}")
    slow = False
    for name, edit in edits(text, count):
        loads, took = best_of(lambda: tomllib.loads(text), edit)
        slow |= took > LIMIT * loads
        figures = f"{loads * 1e3:9.1f} {took * 1e3:9.1f} {took / loads:6.2f} {LIMIT:6.1f}"
        print(f"{name:34} {figures}")
    return int(slow)


def edits(text: str, count: int) -> list[tuple[str, Callable[[], str]]]:
    first, last = ("mcp_servers", "server-0"), ("mcp_servers", f"server-{count - 1}")
    changed = {**SERVER, "args": ["-y", "@example/server@2"], "env": {"TOKEN": "u", "MORE": "m"}}
    other = {"url": "https://example.org/mcp", "http_headers": {"A": "b"}, "enabled": False}
    return [
        ("add a server", lambda: put_table(text, ("mcp_servers", "new"), SERVER)),
        ("change the first server", lambda: put_table(text, first, changed)),
        ("change the last server", lambda: put_table(text, last, changed)),
        ("replace all of a server", lambda: put_table(text, last, other)),
        ("put what is equal", lambda: put_table(text, last, SERVER)),
        ("switch a server off", lambda: set_value(text, (*last, "enabled"), False)),
        ("set a key at the top", lambda: set_value(text, ("model",), "o")),
        ("remove the first server", lambda: remove_table(text, first)),
        ("remove the last server", lambda: remove_table(text, last)),
        ("rename the last server", lambda: rename_table(text, last, "renamed")),
    ]


def codex_like() -> tuple[str, int]:
    parts = ['# settings\nmodel = "large"\n']
    size = count = 0
    while size < SIZE:
        part = one_server(count)
        parts.append(part)
        size += len(part)
        count += 1
    return "".join(parts), count


def one_server(number: int) -> str:
    return f"""
# number {number}
[mcp_servers.server-{number}]
command = "npx"
args = [
  "-y", # no questions
  "@example/server",
  "--stdio",
]
startup_timeout_sec = 20.0

[mcp_servers.server-{number}.env]
TOKEN = "t" # short

[projects."work/number-{number}"]
trust_level = "trusted"
notes = '''
[mcp_servers.not-a-table]
'''
"""


if __name__ == "__main__":
    sys.exit(main())
