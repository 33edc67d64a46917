"""`mcpyard clients`: the servers of every MCP client on this machine, shown and changed."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.client_servers import EntryRef, folder_of, reach
from mcpyard.cli.commands.copy import print_edit
from mcpyard.cli.commands.edit import EditRequest, patch_of
from mcpyard.cli.definition_options import DefinitionOptions
from mcpyard.cli.output import clean, one_line, table
from mcpyard.cli.printing import JsonObject
from mcpyard.domain.errors import Problem, SourceLocation

_DEFINITION: Final = "definition"
"""The scope of a file that should describe a client, and does not."""


def show_clients(
    home: Path, project: Path | None, action: str, words: tuple[str, ...], *, as_json: bool
) -> int:
    """List, show, check or compare the servers; `ls` may name a client."""
    folder = folder_of(project)
    if action == "show":
        client, scope, name = _named(action, words)
        server = reach(home, project, lambda servers: servers.show(client, scope, name, folder))
        return _print_server(server, as_json=as_json)
    if len(words) > (action == "ls"):
        raise usage(f"too many arguments for clients {action}", "mcpyard clients show CLIENT NAME")
    what = "groups" if action == "ls" else action
    records = reach(home, project, lambda servers: servers.get(what, folder))
    if words:
        records = _of_client(records, words[0])
    if as_json:
        print(json.dumps(records))
    else:
        print_records = {
            "ls": _print_groups,
            "lint": _print_findings,
            "drift": _print_drifts,
            "seen": _print_seen,
        }
        print_records[action](records)
    failing = action == "lint" and any(each["level"] == "error" for each in records)
    return 1 if failing else 0


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """What `clients edit` changes, as it was typed."""

    json_text: str | None
    command: str | None
    args: Sequence[str]
    url: str | None
    env: Sequence[str] = field(repr=False)
    headers: Sequence[str] = field(repr=False)

    def refuse_for(self, action: str) -> None:
        """Refuse the options of `edit` for another action."""
        options = (self.json_text, self.command, self.url)
        if self.args or self.env or self.headers or any(each is not None for each in options):
            raise usage(
                f"clients {action} takes no option of clients edit",
                "mcpyard clients edit CLIENT NAME",
            )

    def patch(self) -> dict[str, object]:
        """The change as a merge patch."""
        definition = DefinitionOptions(env=self.env, headers=self.headers)
        edit = EditRequest(self.json_text, self.command, self.args, self.url)
        patch = patch_of(edit, definition, "mcpyard clients")
        # The other fields of a transport that the entry had are removed where it is written.
        other = {"url": "command", "command": "url"}
        return {**{other[word]: None for word in other if word in patch}, **patch}


def change_client(  # noqa: PLR0913  one parameter an option
    home: Path,
    project: Path | None,
    action: str,
    words: tuple[str, ...],
    edit: EntryEdit,
    *,
    dry_run: bool,
    unverified: bool,
    show_secrets: bool,
    as_json: bool,
) -> int:
    """Change, switch, rename or remove an entry, and print what changed."""
    client, scope, name, *more = _named(action, words)
    if action != "edit":
        edit.refuse_for(action)
    patches: dict[str, Callable[[], dict[str, object] | None]] = {
        "edit": edit.patch,
        "enable": lambda: {"enabled": True},
        "disable": lambda: {"enabled": False},
        "rename": lambda: {"name": more[0]},
        "rm": lambda: None,
    }
    entry = EntryRef(client, scope, name, folder_of(project), dry_run, unverified)
    patch = patches[action]()
    done = reach(
        home,
        project,
        lambda servers: servers.change(entry, patch, show_secrets=show_secrets),
        writes=True,
    )
    return print_edit(done, as_json=as_json)


def _named(action: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The client, the scope, the name and for `rename` the new name in the arguments."""
    last = " NEW" if action == "rename" else ""
    if len(words) != len(("client", "name")) + bool(last):
        raise usage(
            f"clients {action} takes a client and a name" + (", and a new name" if last else ""),
            f"mcpyard clients {action} CLIENT[:SCOPE] NAME{last}",
        )
    client, _, scope = words[0].partition(":")
    return client, scope, *words[1:]


def _of_client(records: list[JsonObject], words: str) -> list[JsonObject]:
    """The scopes that words such as `claude` or `claude:project` name; without one, all."""
    client, _, scope = words.partition(":")
    mine = [each for each in records if client == each["client"]]
    if not mine:
        from mcpyard.formats.registry import ClientRegistry

        id_ = ClientRegistry(problems=_broken_definitions(records)).client_of(client).id
        mine = [each for each in records if id_ == each["client"]]
    named = [each for each in mine if scope in {"", each["scope"]} or each["scope"] == _DEFINITION]
    if not named:
        scopes = ", ".join(str(each["scope"]) for each in mine)
        raise usage(f'{client} has no scope "{scope[:40]}"; one of {scopes}', "omit the scope")
    return named


def _broken_definitions(records: list[JsonObject]) -> Iterator[Problem]:
    """What is wrong with the files of the user that describe clients."""
    for group in records:
        for each in group["problems"] if group["scope"] == _DEFINITION else ():
            place = each["place"] and SourceLocation(**each["place"])
            yield Problem(each["field"], each["message"], place)


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
            _verified(group),
        )
        for group in groups
        for server in group["servers"]
    ]
    head = ("STATE", "CLIENT", "NAME", "COMMAND", "REASON", "VERIFIED")
    table(head, rows, "no servers found")
    print_problems(file_problems(groups))


def _verified(group: JsonObject) -> str:
    """How the facts about a client were verified, in a word or two."""
    words = {"ran": "{}", "source": "{} (source)", "files": "files of users"}
    return words.get(group["evidence"], "no (documentation)").format(group["version"])


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


def _print_seen(clients: list[JsonObject]) -> None:
    rows = [
        (
            clean(str(each["title"])),
            clean(" ".join(filter(None, (str(each["name"]), str(each["version"]))))),
            str(each["lastSeen"])[:19].replace("T", " "),
            str(each["sessions"]),
        )
        for each in clients
    ]
    table(("CLIENT", "CALLS ITSELF", "LAST SEEN", "SESSIONS"), rows, "no client was seen yet")


def _launch(server: JsonObject) -> str:
    if server["url"]:
        return str(server["url"])
    arguments: list[Any] = server["args"] or []
    return " ".join([str(server["command"] or ""), *map(str, arguments)])


def _placed(problem: JsonObject) -> str:
    place = problem["place"]
    where = f"{SourceLocation(place['file'], place['line'], place['column'])}: " if place else ""
    field = f"{problem['field']}: " if problem.get("field") else ""
    return f"{where}{field}{problem['message']}"
