"""Profiles in dialogs: servers and tools are picked, and all of it is one form."""

import json
from typing import Final, NamedTuple

import orjson
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.domain.narrowing import is_object, object_of
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import refused
from mcpyard.web.filters import pretty
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.web.tokens import done_notice
from mcpyard.yard.profiles import Profile
from mcpyard.yard.views.servers import ToolView

EVERY: Final = "*"
ENABLED: Final = "enabled"
MOST_TOOLS: Final = 500
"""Tools of a server that can be picked on the page; a form has its limits."""


class PickedServer(NamedTuple):
    """A server in the list, and how many tools it offers."""

    id: str
    name: str
    tools: int
    picked: bool


class PickedTool(NamedTuple):
    """A tool in the list; `key` names it and its server in the form."""

    key: str
    name: str
    picked: bool
    default: bool


class ProfilePages:
    """Makes and changes the profiles of a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard

    async def dialog(self, request: Request) -> Response:
        """The form of a profile: a new one, or one that there is."""
        name = requests.chosen(request.query_params, "name")
        profile = self._yard.profiles.get(name) if name else Profile("", ())
        records, selected = self._yard.servers(tools=False), {*profile.servers}
        names = {key for each in records for key in (each.name, each.id)}
        servers = [
            PickedServer(
                each.id, each.name, each.tool_count, not selected.isdisjoint((each.name, each.id))
            )
            for each in records
        ]
        data: TemplateData = {
            "profile": profile,
            "servers": sorted(servers, key=lambda each: not each.picked),
            "every": EVERY in profile.servers,
            "patterns": [each for each in profile.servers if each not in {*names, EVERY}],
            "tools": pretty(_named(profile)) if _named(profile) else "",
        }
        return answer(request, "dialogs/profile.html", data)

    async def tools(self, request: Request) -> Response:
        """The tools of a server, to be picked from."""
        name = requests.chosen(request.query_params, "name")
        profile = self._yard.profiles.get(name) if name else Profile("", ())
        server = self._yard.server(request.query_params.get("server", ""))
        tools = [
            _picked(server.name, each, profile.override(server, each.name).enabled)
            for each in self._yard.tools(str(server.id))
        ]
        data = {"tools": tools[:MOST_TOOLS], "more": max(0, len(tools) - MOST_TOOLS)}
        return answer(request, "parts/profile_tools.html", data)

    async def save(self, request: Request) -> Response:
        """Keep a profile as it was filled in."""
        form = await requests.form(request)
        try:
            before = self._yard.profiles.get(form["was"]) if form["was"] else Profile("")
            body: dict[str, object] = {"servers": _servers(form), "tools": _tools(form, before)}
            if form["was"]:
                profile = await self._yard.profiles.replace(form["was"], body)
            else:
                profile = await self._yard.profiles.create(body | {"name": form["name"].strip()})
        except YardError as error:
            return refused(request, error)
        return done_notice(request, "profiles.saved", profile.name)

    async def ask(self, request: Request) -> Response:
        """Ask before a profile is taken away."""
        name = self._yard.profiles.get(request.query_params.get("name", "")).name
        data: TemplateData = {"what": "profile", "ref": name, "name": name}
        return answer(request, "dialogs/take_away.html", data)

    async def remove(self, request: Request) -> Response:
        """Take a profile away."""
        name = (await requests.form(request))["ref"]
        await self._yard.profiles.remove(name)
        return done_notice(request, "profiles.removed", name)


def _picked(server: str, tool: ToolView, override: bool | None) -> PickedTool:
    key = json.dumps([server, tool.name, tool.enabled])
    return PickedTool(key, tool.name, tool.enabled if override is None else override, tool.enabled)


def _named(profile: Profile) -> dict[str, dict[str, dict[str, object]]]:
    """What a profile says of tools besides whether they are shown."""
    named = {
        server: {
            tool: {key: value for key, value in object_of(override).items() if key != ENABLED}
            for tool, override in overrides.items()
        }
        for server, overrides in profile.view().tools.items()
    }
    return _without_empty(named)


def _servers(form: Form) -> list[str]:
    patterns = [each.strip() for each in form.all("pattern") if each.strip()]
    if form["which"] == "all":
        return [EVERY, *patterns]
    servers = [*dict.fromkeys(each for each in (*form.all("server"), *patterns) if each)]
    if not servers:
        raise ArgumentsRefused.of(Problem("servers", "choose at least one server"))
    return servers


def _tools(form: Form, before: Profile) -> dict[str, dict[str, dict[str, object]]]:
    """What the text says, what was hidden before, and what was picked now."""
    tools = _read(form["tools"])
    for server, overrides in before.tools.items():
        for tool, override in overrides.items():
            if override.enabled is not None:
                tools.setdefault(server, {}).setdefault(tool, {}).setdefault(
                    ENABLED, override.enabled
                )
    picked = {*form.all("shown")}
    for key in form.all("tool"):
        server, tool, default = _key(key)
        rule = tools.setdefault(server, {}).setdefault(tool, {})
        rule.pop(ENABLED, None)
        if (key in picked) is not default:
            rule[ENABLED] = key in picked
    return _without_empty(tools)


def _key(text: str) -> tuple[str, str, bool]:
    try:
        server, tool, default = json.loads(text)
    except ValueError:
        raise ArgumentsRefused.of(Problem("tool", "unknown tool")) from None
    return str(server), str(tool), bool(default)


def _read(text: str) -> dict[str, dict[str, dict[str, object]]]:
    try:
        value: object = orjson.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        raise ArgumentsRefused.of(Problem("tools", f"this is not JSON: {error}")) from None
    if not is_object(value):
        raise ArgumentsRefused.of(Problem("tools", "must be an object"))
    tools: dict[str, dict[str, dict[str, object]]] = {}
    for server, overrides in value.items():
        if not is_object(overrides):
            raise ArgumentsRefused.of(Problem(f"tools.{server[:80]}", "must be an object"))
        for tool, override in overrides.items():
            if not is_object(override):
                raise ArgumentsRefused.of(
                    Problem(f"tools.{server[:80]}.{tool[:80]}", "must be an object")
                )
            tools.setdefault(server, {})[tool] = {**override}
    return tools


def _without_empty(
    tools: dict[str, dict[str, dict[str, object]]],
) -> dict[str, dict[str, dict[str, object]]]:
    changed = {
        server: {tool: override for tool, override in overrides.items() if override}
        for server, overrides in tools.items()
    }
    return {server: overrides for server, overrides in changed.items() if overrides}
