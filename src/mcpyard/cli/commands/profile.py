"""`mcpyard profile`: selections of servers and tools, each with a gateway URL of its own."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from mcpyard.cli.cli_errors import EXIT_FAILED, usage
from mcpyard.cli.confirmation import confirm
from mcpyard.cli.output import clean, table
from mcpyard.cli.printing import JsonObject, decode_object, decode_objects, print_raw
from mcpyard.client.discovery import RunningYard, need_yard, segment

ProfileAction: TypeAlias = Literal["ls", "add", "edit", "rm"]

_PROFILES: Final = "/api/profiles"
_EVERY: Final = "*"

Tools: TypeAlias = dict[str, dict[str, dict[str, object]]]
"""What a profile says of tools, by server and tool."""


@dataclass(frozen=True, slots=True)
class ProfileOptions:
    """What a profile is to show.

    Attributes:
        servers: Names, ids or patterns, in place of those there are.
        add: Others, beside those there are.
        remove: Those that it shows no more.
        hide: Tools that it hides, as SERVER/TOOL.
        show: Tools that it hides no more.
    """

    servers: Sequence[str] = ()
    add: Sequence[str] = ()
    remove: Sequence[str] = ()
    hide: Sequence[str] = ()
    show: Sequence[str] = ()

    @property
    def used(self) -> str:
        """The first option that was given; empty for none."""
        options = {
            "--server": self.servers,
            "--add": self.add,
            "--remove": self.remove,
            "--hide": self.hide,
            "--show": self.show,
        }
        return next((option for option, values in options.items() if values), "")


def manage_profiles(  # noqa: PLR0913  the words of the command
    home: Path,
    action: ProfileAction,
    name: str | None,
    options: ProfileOptions,
    *,
    yes: bool,
    as_json: bool,
) -> int:
    """List, create, change or delete profiles."""
    _check(action, name, options)
    yard = need_yard(home)
    if action == "ls":
        return _list(yard, as_json=as_json)
    if action == "rm":
        return _remove(yard, str(name), yes=yes, as_json=as_json)
    if action == "add":
        body = _edited({"servers": [], "tools": {}}, options)
        raw = yard.post(_PROFILES, {"name": name, **body})
        done = "added"
    else:
        path = f"{_PROFILES}/{segment(str(name))}"
        body = _edited(decode_object(yard.get(path)), options)
        raw, done = yard.put(path, body), "changed"
    return _print(yard, raw, done, as_json=as_json)


def _check(action: ProfileAction, name: str | None, options: ProfileOptions) -> None:
    if (name is None) == (action != "ls"):
        raise usage(f"profile {action}: {'NAME is missing' if name is None else 'takes no NAME'}")
    if action in {"ls", "rm"} and options.used:
        raise usage(f"{options.used} applies to profile add and edit only")
    if action == "add" and (options.add or options.remove or options.show):
        raise usage(f"{_changing(options)} applies to profile edit only")
    if action == "add" and not options.servers:
        raise usage("profile add: --server is missing", 'all servers: --server "*"')
    if action == "edit" and not options.used:
        raise usage("profile edit: nothing to change", "use --server, --add, --remove, --hide ...")


def _changing(options: ProfileOptions) -> str:
    return ProfileOptions((), options.add, options.remove, (), options.show).used


def _edited(profile: JsonObject, options: ProfileOptions) -> dict[str, object]:
    """A profile after the options were applied."""
    servers = [*(options.servers or profile["servers"]), *options.add]
    if unknown := [each for each in options.remove if each not in servers]:
        raise usage(f'the profile does not list "{clean(unknown[0])}"', "mcpyard profile ls")
    left = [each for each in dict.fromkeys(servers) if each not in options.remove]
    tools: Tools = {
        server: {tool: {**override} for tool, override in overrides.items()}
        for server, overrides in profile["tools"].items()
    }
    for words in options.hide:
        server, tool = _tool(words)
        tools.setdefault(server, {}).setdefault(tool, {})["enabled"] = False
    for words in options.show:
        server, tool = _tool(words)
        tools.get(server, {}).get(tool, {}).pop("enabled", None)
    return {"servers": left, "tools": _without_empty(tools)}


def _tool(words: str) -> tuple[str, str]:
    server, _, tool = words.partition("/")
    if not server or not tool:
        raise usage(f'"{clean(words)}" is not SERVER/TOOL')
    return server, tool


def _without_empty(tools: Tools) -> Tools:
    """Without tools of which nothing is said."""
    changed = {
        server: {tool: override for tool, override in overrides.items() if override}
        for server, overrides in tools.items()
    }
    return {server: overrides for server, overrides in changed.items() if overrides}


def _list(yard: RunningYard, *, as_json: bool) -> int:
    raw = yard.get(_PROFILES)
    if as_json:
        return print_raw(raw)
    rows = [
        (
            clean(str(each["name"])),
            f"/mcp/{segment(str(each['name']))}",
            clean(_servers(each["servers"])),
            clean(", ".join(_hidden(each["tools"]))),
        )
        for each in decode_objects(raw)
    ]
    table(("NAME", "ENDPOINT", "SERVERS", "HIDDEN TOOLS"), rows, "no profiles")
    return 0


def _servers(patterns: Sequence[str]) -> str:
    return "all" if _EVERY in patterns else ", ".join(patterns)


def _hidden(tools: Mapping[str, Mapping[str, Mapping[str, object]]]) -> list[str]:
    return [
        f"{server}/{tool}"
        for server, overrides in tools.items()
        for tool, override in overrides.items()
        if override.get("enabled") is False
    ]


def _remove(yard: RunningYard, name: str, *, yes: bool, as_json: bool) -> int:
    path = f"{_PROFILES}/{segment(name)}"
    yard.get(path)
    question = f'the profile "{name}" and its URL will be deleted'
    if not yes and not confirm(clean(question)):
        print("nothing deleted", file=sys.stderr)
        return EXIT_FAILED
    yard.delete(path)
    print(json.dumps({"deleted": name}) if as_json else f"deleted {clean(name)}")
    return 0


def _print(yard: RunningYard, raw: bytes, done: str, *, as_json: bool) -> int:
    profile = decode_object(raw)
    # A profile may name servers that come later; a misspelled name looks the same.
    servers = decode_objects(yard.get("/api/mcp/servers?tools=0"))
    names = {str(each[key]) for each in servers for key in ("name", "id")}
    exact = (each for each in profile["servers"] if _EVERY not in each)
    if missing := [each for each in exact if each not in names]:
        print(f"note: there is no server {', '.join(map(clean, missing))} yet", file=sys.stderr)
    if as_json:
        return print_raw(raw)
    name = str(profile["name"])
    print(f"{done} {clean(name)}: {clean(_servers(profile['servers']))}")
    print(f"connect a client: mcpyard connect CLIENT --profile {clean(name)}", file=sys.stderr)
    return 0
