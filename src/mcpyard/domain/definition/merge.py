"""Changing a definition by a JSON merge patch, in the words of the record that was shown.

`null` removes, an object is merged member by member, anything else replaces. A value that was
shown masked and comes back masked means: keep what is there.
"""

import re
from collections.abc import Mapping
from typing import Final

from mcpyard.domain.definition.old_names import NEW_NAMES, without_replaced
from mcpyard.domain.definition.parsing import ParsedDefinition, read_definition
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import Config, LocalConfig, Policy, RemoteConfig, ToolPolicy
from mcpyard.domain.narrowing import is_mapping, mapping_of

MASK: Final = "masked"

_BEFORE_VALUE: Final = re.compile(r"://[^/@:?#]*+:|[?&][^=&#]*+=?")
"""What stands before a password, or before a value of a query.

A name without a value is matched too, so that none of its characters is looked at again.
"""
_SECRET_NAME: Final = re.compile(r"(?i)token|key|secret|passw|signature")
_END_OF_VALUE: Final = re.compile(r"[@&#]")

_LAUNCH: Final = frozenset(
    {"type", "transport", "command", "args", "env", "environment", "cwd", "url", "headers", "oauth"}
)
_SHOWN: Final = {
    name: info.alias or name
    for model in (ToolPolicy, Policy)
    for name, info in model.model_fields.items()
}
_POLICY: Final = frozenset(info.alias or name for name, info in Policy.model_fields.items())
_CHANGEABLE: Final = _LAUNCH | _POLICY | {"disabled", *NEW_NAMES}

Patch = Mapping[str, object]


def shown_url(url: str) -> str:
    """An address as it may be shown: a password, or what a query calls a secret, left out.

    A reference to a variable is no secret and stays.
    """
    parts, at, searched = list[str](), 0, 0
    end = reference = -1
    while match := _BEFORE_VALUE.search(url, searched):
        searched = match.end()
        if end < searched:
            stop = _END_OF_VALUE.search(url, searched)
            end = stop.start() if stop else len(url)
            reference = url.rfind("${", searched, end)
        if reference < searched < end and _precedes_secret(match[0], url[end : end + 1]):
            parts += (url[at:searched], "***")
            at = searched = end
    return "".join((*parts, url[at:]))


def _precedes_secret(before: str, after: str) -> bool:
    """Whether a value is a secret, by what stands before and after it."""
    if before.startswith(":"):
        return after == "@"
    return before.endswith("=") and _SECRET_NAME.search(before) is not None


def plain(config: Config) -> dict[str, object]:
    """A definition as a plain object that reads back as the same definition."""
    policy: dict[str, object] = {
        name: value
        for name, value in config.model_dump(mode="json", exclude_unset=True, by_alias=True).items()
        if name in _POLICY
    }
    if isinstance(config, LocalConfig):
        launch: dict[str, object] = {"command": config.program, "args": [*config.args]}
        optional: dict[str, object | None] = {"env": config.environment or None, "cwd": config.cwd}
    else:
        launch = {"url": config.url}
        transport = str(config.transport) if config.transport else None
        oauth = oauth_of(config)
        optional = {"headers": config.headers or None, "transport": transport, "oauth": oauth}
    return launch | {key: value for key, value in optional.items() if value is not None} | policy


def oauth_of(config: RemoteConfig) -> dict[str, str] | None:
    """What a definition says of our registration, as it is written; None for nothing."""
    fields = config.oauth.model_dump(by_alias=True, exclude_none=True) if config.oauth else None
    return fields or None


def merged(config: Config, patch: Patch) -> ParsedDefinition:
    """A definition changed by a patch, or `DefinitionError` naming the field."""
    patch = _as_shown(patch)
    unknown = [key for key in patch if key not in _CHANGEABLE]
    if unknown:
        raise DefinitionError.of(*(Problem(key[:80], "cannot be changed") for key in unknown))
    base = without_replaced(plain(config), patch)
    if "environment" in patch and "env" in base:
        base["environment"] = base.pop("env")
    if "disabled" in patch:
        base.pop("enabled", None)
    if isinstance(patch.get("command"), list) and "args" not in patch:
        base.pop("args", None)
    if patch.get("type") is not None or "command" in patch or "url" in patch:
        # What it is may change with it; the words for that are those of the patch, or inferred.
        base.pop("transport", None)
    reading = read_definition(_merge(base, patch, ""))
    return ParsedDefinition(
        reading.config, tuple(each for each in reading.warnings if not _inferred(each))
    )


def is_mask(value: object) -> bool:
    """Whether a value stands for one that was shown masked."""
    return is_mapping(value) and value.get(MASK) is True


def _as_shown(patch: Patch) -> Patch:
    """A patch with every field under the one name that records show."""
    renamed = {_SHOWN.get(key, key): value for key, value in patch.items()}
    tools = renamed.get("tools")
    if is_mapping(tools):
        renamed["tools"] = {
            tool: _as_shown(each) if is_mapping(each) else each for tool, each in tools.items()
        }
    return renamed


def _inferred(problem: Problem) -> bool:
    return problem.field in {"transport", "args"}


def _merge(base: Mapping[str, object], patch: Patch, path: str) -> dict[str, object]:
    changed = dict(base)
    for key, value in patch.items():
        where = f"{path}.{key}" if path else key
        if value is None:
            changed.pop(key, None)
        elif is_mask(value):
            if key not in base:
                raise DefinitionError.of(Problem(where, "is masked, but no value is stored"))
        elif key == "url" and value == shown_url(str(base.get(key))):
            """It came back as it was shown: kept as it is."""
        elif is_mapping(value):
            changed[key] = _merge(_members(base.get(key)), value, where)
        else:
            changed[key] = value
    return changed


def _members(value: object) -> Mapping[str, object]:
    return mapping_of(value)
