"""Changing a definition by a JSON merge patch, in the words of the record that was shown.

`null` removes, an object is merged member by member, anything else replaces. A value that was
shown masked and comes back masked means: keep what is there.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from mcpyard.domain.definition.old_names import NEW_NAMES, without_replaced
from mcpyard.domain.definition.parsing import ParsedDefinition, read_definition
from mcpyard.domain.definition.secret_text import (
    MASKED,
    StillMasked,
    shown_text,
    shown_url,
    unmasked_args,
)
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import Config, LocalConfig, Policy, RemoteConfig, ToolPolicy
from mcpyard.domain.narrowing import is_array, is_mapping, mapping_of

MASK: Final = "masked"

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

_SHOWN_TEXTS: Final = {"url": shown_url, "command": shown_text}
"""The fields that are one text, and how it is shown."""

Patch = Mapping[str, object]


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
    patch = _with_stored_args(_as_shown(patch), config)
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
    warnings = (each for each in reading.warnings if each.field not in {"transport", "args"})
    return ParsedDefinition(reading.config, tuple(warnings))


def is_mask(value: object) -> bool:
    """Whether a value stands for one that was shown masked."""
    return is_mapping(value) and value.get(MASK) is True


def kept_text(field: str, value: str, stored: object) -> str:
    """A URL or a command, or the stored one where it came back as it was shown."""
    if not isinstance(stored, str) or value == stored:
        return value
    if value == _SHOWN_TEXTS[field](stored):
        return stored
    if MASKED in value:
        problem = Problem(field, f"contains a masked value ({MASKED}); write it out")
        raise DefinitionError.of(problem)
    return value


def kept_args(args: Sequence[object], stored: Sequence[str]) -> list[object]:
    """Arguments with the stored ones in place of those that came back as they were shown."""
    texts = [each if isinstance(each, str) else "" for each in args]
    try:
        unmasked = unmasked_args(texts, stored)
    except StillMasked as error:
        problem = Problem(f"args[{error.index}]", "is masked, but no value is stored")
        raise DefinitionError.of(problem) from None
    pairs = zip(args, unmasked, strict=True)
    return [text if isinstance(each, str) else each for each, text in pairs]


def _with_stored_args(patch: Patch, config: Config) -> Patch:
    stored = config.args if isinstance(config, LocalConfig) else ()
    args, command = patch.get("args"), patch.get("command")
    if is_array(args):
        patch = {**patch, "args": kept_args(args, stored)}
    if is_array(command):
        patch = {**patch, "command": [*command[:1], *kept_args(command[1:], stored)]}
    return patch


def _as_shown(patch: Patch) -> Patch:
    """A patch with every field under the one name that records show."""
    renamed = {_SHOWN.get(key, key): value for key, value in patch.items()}
    tools = renamed.get("tools")
    if is_mapping(tools):
        renamed["tools"] = {
            tool: _as_shown(each) if is_mapping(each) else each for tool, each in tools.items()
        }
    return renamed


def _merge(base: Mapping[str, object], patch: Patch, path: str) -> dict[str, object]:
    changed = dict(base)
    for key, value in patch.items():
        where = f"{path}.{key}" if path else key
        if value is None:
            changed.pop(key, None)
        elif is_mask(value):
            if key not in base:
                raise DefinitionError.of(Problem(where, "is masked, but no value is stored"))
        elif not path and key in _SHOWN_TEXTS and isinstance(value, str):
            changed[key] = kept_text(key, value, base.get(key))
        elif is_mapping(value):
            changed[key] = _merge(mapping_of(base.get(key)), value, where)
        else:
            changed[key] = value
    return changed
