"""`mcpyard clients`: the servers of every MCP client on this machine."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.client_servers import folder_of, reach
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject
from mcpyard.domain.errors import SourceLocation


def show_clients(
    home: Path, project: Path | None, action: str, words: tuple[str, ...], *, as_json: bool
) -> int:
    """List, show, check or compare the servers."""
    folder = folder_of(project)
    if action == "show":
        client, scope, name = _named(words)
        server = reach(home, project, lambda servers: servers.show(client, scope, name, folder))
        return _print_server(server, as_json=as_json)
    if words:
        raise usage(f"clients {action} takes no arguments", "mcpyard clients show CLIENT NAME")
    what = "groups" if action == "ls" else action
    records = reach(home, project, lambda servers: servers.get(what, folder))
    if as_json:
        print(json.dumps(records))
    else:
        {"ls": _print_groups, "lint": _print_findings, "drift": _print_drifts}[action](records)
    failing = action == "lint" and any(each["level"] == "error" for each in records)
    return 1 if failing else 0


def _named(words: tuple[str, ...]) -> tuple[str, str, str]:
    """The client, the scope and the name in the arguments."""
    if len(words) != len(("client", "name")):
        raise usage(
            "clients show takes a client and a name", "mcpyard clients show CLIENT[:SCOPE] NAME"
        )
    client, _, scope = words[0].partition(":")
    return client, scope, words[1]


def _print_server(server: JsonObject, *, as_json: bool) -> int:
    if as_json:
        print(json.dumps(server))
        return 0
    print(clean(str(server["name"])))
    for key, value in server.items():
        if key not in {"name", "title"} and value not in (None, "", [], {}):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            print(f"  {key:18} {clean(text)}")
    return 0


def _print_groups(groups: list[JsonObject]) -> None:
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
    table(("STATE", "CLIENT", "NAME", "COMMAND", "REASON"), rows, "no servers found")
    print_problems(file_problems(groups))


def file_problems(groups: Sequence[JsonObject]) -> list[JsonObject]:
    """The problems of the groups' files; those of a shared file once."""
    problems = [problem for group in groups for problem in group["problems"]]
    return [each for number, each in enumerate(problems) if each not in problems[:number]]


def print_problems(problems: Sequence[JsonObject]) -> None:
    """Print problems with their places."""
    for each in problems:
        print(f"problem: {clean(_placed(each))}", file=sys.stderr)


def _print_findings(findings: list[JsonObject]) -> None:
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
    table(("LEVEL", "RULE", "CLIENT", "NAME", "PROBLEM", "FIX"), rows, "no problems found")


def _print_drifts(drifts: list[JsonObject]) -> None:
    rows = [
        (
            clean(str(each["name"])),
            clean(", ".join(f"{place['client']}:{place['scope']}" for place in variant["in"])),
            one_line(", ".join(f"{key}: {value}" for key, value in variant["values"].items())),
        )
        for each in drifts
        for variant in each["variants"]
    ]
    none = "no differences: every server is defined the same way everywhere"
    table(("NAME", "IN", "DEFINITION"), rows, none)


def _launch(server: JsonObject) -> str:
    if server["url"]:
        return str(server["url"])
    arguments: list[Any] = server["args"] or []
    return " ".join([str(server["command"] or ""), *map(str, arguments)])


def _placed(problem: JsonObject) -> str:
    place = problem["place"]
    where = f"{SourceLocation(place['file'], place['line'], place['column'])}: " if place else ""
    return f"{where}{problem['message']}"
