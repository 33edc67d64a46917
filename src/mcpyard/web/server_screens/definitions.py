"""Definitions in forms: what the dialog shows of one, and what it means when it comes back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from mcpyard.domain.definition.merge import kept_args, kept_text
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.definition.secret_names import is_literal
from mcpyard.domain.definition.secret_text import shown_args, shown_text, shown_url
from mcpyard.domain.definition.tags import tags_of_text
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.narrowing import is_mapping, list_of, object_of
from mcpyard.web.redaction import HIDDEN, redacted
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.extra_fields import (
    ASKED,
    extra_of_definition,
    extra_of_server,
    extra_patch,
    read_extra,
    redacted_extra,
    with_literals,
)
from mcpyard.yard.views.servers import RevealedView, ServerView

STDIO: Final = "stdio"
TRANSPORTS: Final = (STDIO, "http", "sse")
SCOPES: Final = ("", "project", "user")
MASK: Final = {"masked": True}
TAGS: Final = "tags"

_NOT_REMOTE: Final = {"url": None, "headers": None, "oauth": None, "transport": STDIO}


@dataclass(frozen=True, slots=True)
class Pair:
    """A variable or a header; one that is `kept` has a value that stays, unseen."""

    name: str
    value: str = ""
    kept: bool = False
    hint: str = ""

    @property
    def shown(self) -> bool:
        """Whether it is no secret: a reference, maybe with a word around it."""
        return bool(self.value) and not is_literal(self.value)


@dataclass(frozen=True, slots=True)
class Fields:
    """Everything that the dialog asks for.

    What has no field of its own is JSON in `extra`, and `tags` have commas between them; None where
    one was not asked for, and stays.
    """

    name: str = ""
    transport: str = STDIO
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[Pair, ...] = ()
    cwd: str = ""
    url: str = ""
    headers: tuple[Pair, ...] = ()
    timeout: str = ""
    enabled: bool = True
    scope: str = ""
    extra: str | None = None
    tags: str | None = None
    problems: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def local(self) -> bool:
        """Whether it is a process of ours."""
        return self.transport == STDIO

    @property
    def extra_problem(self) -> str:
        """What is wrong with what has no field of its own."""
        return "; ".join(
            text if name == "further" else f"{name}: {text}"
            for name, text in self.problems.items()
            if name not in ASKED and not _is_tag(name)
        )

    @property
    def tags_problem(self) -> str:
        """What is wrong with the tags."""
        return "; ".join(
            text if name == TAGS else f"{name}: {text}"
            for name, text in self.problems.items()
            if _is_tag(name)
        )


def fields_of_server(server: ServerView) -> Fields:
    """The fields of a server as it is."""
    extra, tags = extra_of_server(server), ", ".join(server.tags)
    return replace(fields_of_view(server), extra=extra, tags=tags)


def fields_of_view(server: ServerView) -> Fields:
    """The fields of a server, without what has no field of its own."""
    return Fields(
        name=server.name,
        transport=server.transport or "http",
        command=server.command or "",
        args=tuple(server.args or ()),
        env=pairs_of(server.env),
        cwd=server.cwd or "",
        url=server.url or "",
        headers=pairs_of(server.headers),
        timeout=str(server.timeout),
        enabled=server.enabled,
        scope=server.scope,
    )


def fields_of_definition(name: str, definition: dict[str, object]) -> Fields:
    """The fields of a definition that was pasted; its values are the person's own."""
    remote = "url" in definition
    return Fields(
        name=name,
        transport=str(definition.get("transport") or ("http" if remote else STDIO)),
        command=str(definition.get("command", "")),
        args=tuple(map(str, list_of(definition.get("args")))),
        env=pairs_of(object_of(definition.get("env"))),
        cwd=str(definition.get("cwd") or ""),
        url=str(definition.get("url", "")),
        headers=pairs_of(object_of(definition.get("headers"))),
        timeout=str(definition.get("timeout", "")),
        enabled=bool(definition.get("enabled", True)),
        extra=extra_of_definition(definition),
        tags=", ".join(map(str, list_of(definition.get(TAGS)))),
    )


def fields_of_form(form: Form, problems: Mapping[str, str] | None = None) -> Fields:
    """The fields as somebody filled them in."""
    transport = form["transport"]
    return Fields(
        name=form["name"].strip(),
        transport=transport if transport in TRANSPORTS else STDIO,
        command=form["command"].strip(),
        args=tuple(each for each in form.all("arg") if each),
        env=_filled(form, "env"),
        cwd=form["cwd"].strip(),
        url=form["url"].strip(),
        headers=_filled(form, "header"),
        timeout=form["timeout"].strip(),
        enabled="enabled" in form,
        scope=form["scope"] if form["scope"] in SCOPES else "",
        extra=form["further"].strip() if "further" in form else None,
        tags=form[TAGS].strip() if TAGS in form else None,
        problems=problems or {},
    )


def definition_of(fields: Fields, literals: RevealedView | None = None) -> dict[str, object]:
    """The definition that fields mean, with the literals behind what was shown masked."""
    made = with_literals(read_extra(fields.extra), literals) | {"transport": fields.transport}
    if fields.local:
        command = kept_text("command", fields.command, literals and literals.command)
        args = kept_args(fields.args, literals.args or ()) if literals else [*fields.args]
        made |= {"command": command, "args": args}
        made |= {"env": _values(fields.env, literals and literals.env)} if fields.env else {}
        made |= {"cwd": fields.cwd} if fields.cwd else {}
    else:
        made |= {"url": kept_text("url", fields.url, literals and literals.url)}
        made |= (
            {"headers": _values(fields.headers, literals and literals.headers)}
            if fields.headers
            else {}
        )
    if fields.timeout:
        made["timeout"] = milliseconds(fields.timeout)
    made |= {TAGS: tags_of_text(fields.tags)} if fields.tags else {}
    return made if fields.enabled else made | {"enabled": False}


def patch_of(fields: Fields, server: ServerView) -> dict[str, object]:
    """The merge patch that turns a server into what was filled in."""
    patch = extra_patch(fields.extra, server) | {"enabled": fields.enabled}
    if fields.name != server.name:
        patch["name"] = fields.name
    if fields.timeout:
        patch["timeout"] = milliseconds(fields.timeout)
    if fields.tags is not None and (tags := tags_of_text(fields.tags)) != server.tags:
        patch[TAGS] = tags
    was_local = server.type == "local"
    if fields.local:
        patch |= {"command": fields.command, "args": [*fields.args]}
        patch |= {"env": _changed(fields.env, server.env), "cwd": fields.cwd or None}
        return patch if was_local else patch | _NOT_REMOTE
    patch |= {"url": fields.url, "transport": fields.transport}
    patch |= {"headers": _changed(fields.headers, server.headers)}
    gone: dict[str, object] = {"command": None, "args": None, "env": None, "cwd": None}
    return patch | gone if was_local else patch


def redacted_definition(fields: Fields) -> dict[str, object]:
    """A definition for a person's eyes, with secrets hidden."""
    hidden = {"name": fields.name, "transport": fields.transport}
    more: dict[str, object] = {"url": shown_url(fields.url)}
    pairs, key = fields.headers, "headers"
    if fields.local:
        more = {"command": shown_text(fields.command), "args": shown_args(fields.args)}
        more |= {"cwd": fields.cwd} if fields.cwd else {}
        pairs, key = fields.env, "env"
    values = {each.name: HIDDEN if each.kept else redacted(each.value) for each in pairs}
    number = whole_number(fields.timeout)
    timeout = fields.timeout if number is None else number
    rest: dict[str, object] = {"timeout": timeout, "enabled": fields.enabled}
    rest |= {TAGS: tags_of_text(fields.tags)} if fields.tags else {}
    rest |= redacted_extra(fields.extra)
    return {**hidden, **more, **({key: values} if values else {}), **rest}


def pairs_of(values: Mapping[str, object] | None) -> tuple[Pair, ...]:
    """Variables or headers as they are shown."""
    return tuple(_pair(name, value) for name, value in (values or {}).items())


def _is_tag(field_name: str) -> bool:
    return field_name.partition("[")[0] == TAGS


def _pair(name: str, value: object) -> Pair:
    if is_mapping(value):
        return Pair(name, kept=True, hint=str(value.get("hint", "")))
    return Pair(name, str(value))


def _filled(form: Form, kind: str) -> tuple[Pair, ...]:
    rows = zip(
        form.all(f"{kind}_name"), form.all(f"{kind}_value"), form.all(f"{kind}_was"), strict=False
    )
    return tuple(
        Pair(name.strip(), value, kept=bool(was) and was == name.strip() and not value)
        for name, value, was in rows
        if name.strip() or value
    )


def _values(pairs: Iterable[Pair], literals: Mapping[str, str] | None) -> dict[str, object]:
    literal = literals or {}
    return {each.name: literal.get(each.name, "") if each.kept else each.value for each in pairs}


def _changed(pairs: Iterable[Pair], before: Mapping[str, object] | None) -> dict[str, object]:
    gone: Mapping[str, object] = dict.fromkeys(before or {})
    return {**gone, **{each.name: MASK if each.kept else each.value for each in pairs}}


def milliseconds(text: str) -> int:
    """A number of milliseconds out of a text."""
    number = whole_number(text)
    if number is None:
        raise DefinitionError.of(Problem("timeout", "must be a whole number of milliseconds"))
    return number
