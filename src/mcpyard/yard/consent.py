"""What a person is shown of an entry that waits for approval.

Everything that an approval is bound to, field by field, and on a change the difference. Literal
values are masked as in records. The exception are variables that decide which code runs: whoever
approves must be able to read them.
"""

import shlex
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from mcpyard.domain.definition.expand import variables_in
from mcpyard.domain.definition.merge import is_mask, oauth_of
from mcpyard.domain.definition.risky_variables import is_risky
from mcpyard.domain.definition.secret_names import names_secret
from mcpyard.domain.definition.secret_text import MASKED, shown_args, shown_text, shown_url
from mcpyard.domain.desired import Waiting
from mcpyard.domain.model import EVERYTHING, Config, LocalConfig, RemoteConfig
from mcpyard.domain.narrowing import is_array, is_mapping, is_object
from mcpyard.yard.approving import WaitingFolder
from mcpyard.yard.masking import shown_value
from mcpyard.yard.views.approvals import (
    FieldChange,
    VariableUse,
    WaitingField,
    WaitingFolderView,
    WaitingServerView,
)
from mcpyard.yard.views.servers import waiting_kind


class _Field(NamedTuple):
    """One thing that an entry says, what is shown of it, and whether to look at it closely."""

    value: object
    shown: object
    marked: bool = False


_Fields = dict[str, _Field]


def folder_view(folder: WaitingFolder) -> WaitingFolderView:
    """A folder with everything that waits, and the digest that an approval names."""
    return WaitingFolderView(
        folder=folder.folder,
        digest=folder.digest,
        servers=[waiting_view(each) for each in folder.entries],
    )


def waiting_view(waiting: Waiting) -> WaitingServerView:
    """An entry that waits."""
    config = waiting.definition.config
    fields = _fields(config)
    return WaitingServerView(
        name=waiting.definition.name,
        kind=waiting_kind(waiting),
        replaces=waiting.shadows.words if waiting.shadows else None,
        fields=[
            WaitingField(field=name, value=each.shown, marked=each.marked)
            for name, each in fields.items()
        ],
        variables=[*_variables(config)],
        changes=[*_changes(_fields(waiting.approved), fields)] if waiting.approved else [],
    )


def text_of(value: object) -> str:
    """A shown value as a text."""
    if value is None:
        return ""
    if is_mapping(value) and is_mask(value):
        return f"{MASKED}{value.get('hint', '')}"
    if is_array(value):
        return shlex.join(map(text_of, value))
    if is_object(value):
        return "; ".join(f"{name}: {text_of(each)}" for name, each in value.items())
    return str(value)


def _fields(config: Config) -> _Fields:
    launch = _local(config) if isinstance(config, LocalConfig) else _remote(config)
    tools = {
        f"tools.{name}": _plain(
            policy.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        )
        for name, policy in config.tools.items()
    }
    everything = EVERYTHING in config.inherit
    treatment = {
        "inherit": _Field(config.inherit, config.inherit, marked=everything),
        "fallback": _plain(config.fallback),
        **tools,
        "enabled": _plain(None if config.enabled else False),
        "wanted": _plain(config.wanted and str(config.wanted)),
    }
    fields = launch | treatment
    return {name: each for name, each in fields.items() if each.value not in (None, [], "")}


def _local(config: LocalConfig) -> _Fields:
    return {
        "command": _Field(config.program, shown_text(config.program)),
        "args": _Field(config.args, shown_args(config.args)),
        "cwd": _plain(config.cwd),
        **{f"env.{name}": _variable(name, value) for name, value in config.environment.items()},
    }


def _remote(config: RemoteConfig) -> _Fields:
    oauth = oauth_of(config) or {}
    return {
        "url": _Field(config.url, shown_url(config.url)),
        "transport": _plain(config.transport and str(config.transport)),
        **{
            f"headers.{name}": _Field(value, shown_value(value))
            for name, value in config.headers.items()
        },
        **{
            f"oauth.{name}": _Field(value, shown_value(value) if names_secret(name) else value)
            for name, value in oauth.items()
        },
    }


def _plain(value: object) -> _Field:
    return _Field(value, value)


def _variable(name: str, value: str) -> _Field:
    risky = is_risky(name)
    readable = risky and not names_secret(name)
    return _Field(value, shown_url(value) if readable else shown_value(value), risky)


def _variables(config: Config) -> Iterator[VariableUse]:
    """Which variables of the user's the entry takes, and the host that gets each; None for none."""
    host = None if isinstance(config, LocalConfig) else _host(config.url)
    for field, each in _fields(config).items():
        for name in dict.fromkeys(_referred(each.value)):
            yield VariableUse(name=name, field=field, host=host)


def _referred(value: object) -> Iterator[str]:
    """The variables that a value refers to."""
    for each in value if is_array(value) else [value]:
        yield from variables_in(each) if isinstance(each, str) else ()


def _host(url: str) -> str:
    """The host of an address as it is written, without what may be a secret beside it."""
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return host or shown_url(url)


def _changes(before: _Fields, after: _Fields) -> Iterator[FieldChange]:
    nothing = _Field(None, None)
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, nothing), after.get(name, nothing)
        if old.value != new.value:
            yield FieldChange(field=name, before=old.shown, after=new.shown)
