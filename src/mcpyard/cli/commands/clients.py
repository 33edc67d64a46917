"""`mcpyard clients`: the servers of every program on this machine."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.client_servers import Record, folder_of, reach
from mcpyard.cli.output import clean, one_line, table
from mcpyard.domain.errors import SourceLocation


def look_at_clients(
    home: Path, project: Path | None, action: str, words: tuple[str, ...], *, as_json: bool
) -> int:
    """Print what was asked for."""
    folder = folder_of(project)
    if action == "show":
        client, scope, name = _named(words)
        shown = reach(home, project, lambda it: it.show(client, scope, name, folder))
        return _print_server(shown, as_json=as_json)
    if words:
        raise usage(f"{action} takes no further words", "mcpyard clients show CLIENT NAME")
    what = "groups" if action == "ls" else action
    found = reach(home, project, lambda it: it.get(what, folder))
    if as_json:
        print(json.dumps(found))
    else:
        {"ls": _print_groups, "lint": _print_findings, "drift": _print_drifts}[action](found)
    failing = action == "lint" and any(each["level"] == "error" for each in found)
    return 1 if failing else 0


def _named(words: tuple[str, ...]) -> tuple[str, str, str]:
    """The client, the scope and the name that were said."""
    if len(words) != len(("client", "name")):
        raise usage("show takes a client and a name", "mcpyard clients show CLIENT[:SCOPE] NAME")
    client, _, scope = words[0].partition(":")
    return client, scope, words[1]


def _print_server(found: Record, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(found))
        return 0
    print(clean(str(found["name"])))
    for key, value in found.items():
        if key not in {"name", "title"} and value not in (None, "", [], {}):
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            print(f"  {key:18} {clean(shown)}")
    return 0


def _print_groups(groups: list[Record]) -> None:
    rows = [
        (
            str(server["effective"]),
            clean(f"{group['client']}:{group['scope']}"),
            clean(str(server["name"])),
            one_line(_launch(server)),
            one_line(str(server["reason"])),
        )
        for group in groups
        for server in group["servers"]
    ]
    if rows:
        table(("STATE", "CLIENT", "NAME", "COMMAND", "WHY"), rows)
    else:
        print("no servers", file=sys.stderr)
    print_problems(file_problems(groups))


def file_problems(groups: Sequence[Record]) -> list[Record]:
    """What is wrong with the files of groups; of a file that several have, once."""
    found = [problem for group in groups for problem in group["problems"]]
    return [each for number, each in enumerate(found) if each not in found[:number]]


def print_problems(problems: Sequence[Record]) -> None:
    """Tell what is wrong, and where."""
    for each in problems:
        print(f"problem: {clean(_placed(each))}", file=sys.stderr)


def _print_findings(findings: list[Record]) -> None:
    rows = [
        (
            str(each["level"]),
            str(each["code"]),
            clean(f"{each['client']}:{each['scope']}".rstrip(":")),
            clean(str(each["name"])),
            one_line(_placed(each)),
            one_line(str(each["hint"])),
        )
        for each in findings
    ]
    if rows:
        table(("LEVEL", "RULE", "CLIENT", "NAME", "FOUND", "FIX"), rows)
    else:
        print("nothing found", file=sys.stderr)


def _print_drifts(drifts: list[Record]) -> None:
    rows = [
        (
            clean(str(each["name"])),
            clean(", ".join(f"{place['client']}:{place['scope']}" for place in variant["in"])),
            one_line(", ".join(f"{key}: {value}" for key, value in variant["values"].items())),
        )
        for each in drifts
        for variant in each["variants"]
    ]
    if rows:
        table(("NAME", "IN", "SAYS"), rows)
    else:
        print("every server is defined alike everywhere", file=sys.stderr)


def _launch(server: Record) -> str:
    if server["url"]:
        return str(server["url"])
    arguments: list[Any] = server["args"] or []
    return " ".join([str(server["command"] or ""), *map(str, arguments)])


def _placed(problem: Record) -> str:
    place = problem["place"]
    where = f"{SourceLocation(place['file'], place['line'], place['column'])}: " if place else ""
    return f"{where}{problem['message']}"
