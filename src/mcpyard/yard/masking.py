"""Which values must not be shown, and what is shown instead.

A reference to a variable is no secret, nor are a few characters around it, as in
`Bearer ${TOKEN}`; a key with a reference in it is one.
"""

from collections.abc import Mapping
from typing import Final

from mcpyard.domain.definition.secret_names import ANY_REFERENCE, is_literal, names_secret
from mcpyard.domain.definition.secret_text import shown_args, shown_url
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import Config, LocalConfig

_HINT: Final = 4
_LONG_ENOUGH_FOR_A_HINT: Final = 16


def mask(value: str) -> dict[str, object]:
    """What stands for a value."""
    hint = f"...{value[-_HINT:]}" if len(value) >= _LONG_ENOUGH_FOR_A_HINT else ""
    return {"masked": True, "hint": hint}


def masked(values: Mapping[str, str]) -> dict[str, object]:
    """The values of a definition as they may be shown."""
    return {name: shown_value(value) for name, value in values.items()}


def shown_value(value: str) -> object:
    """A value of a definition as it may be shown."""
    return mask(value) if is_literal(value) else value


def is_secret(value: str) -> bool:
    """Whether a value of another program's file is more than references and a word around them."""
    return bool(value) and is_literal(value, ANY_REFERENCE)


def shown_values(values: Mapping[str, str]) -> dict[str, object]:
    """The values of another program's file as they may be shown."""
    return {name: mask(value) if is_secret(value) else value for name, value in values.items()}


def literal_secrets(config: Config) -> list[Problem]:
    """A warning for each secret that would lie in a file that is easily shared."""
    local = isinstance(config, LocalConfig)
    field, pairs = ("env", config.environment) if local else ("headers", config.headers)
    advice = "is plain text in a file that is often shared; use ${NAME} and set the variable"
    named = [
        Problem(f"{field}.{name}", advice)
        for name, value in pairs.items()
        if names_secret(name) and "${" not in value
    ]
    oauth = None if isinstance(config, LocalConfig) else config.oauth
    if oauth and oauth.client_secret and is_literal(oauth.client_secret):
        named.append(Problem("oauth.clientSecret", advice))
    advice = "contains a plain-text secret; use ${keyring:NAME} or a variable"
    return [*named, *(Problem(field, advice) for field in _with_secrets(config))]


def _with_secrets(config: Config) -> list[str]:
    """The arguments and the URL that contain secrets."""
    if not isinstance(config, LocalConfig):
        return ["url"] if shown_url(config.url) != config.url else []
    pairs = zip(config.args, shown_args(config.args), strict=True)
    return [f"args[{index}]" for index, (arg, text) in enumerate(pairs) if arg != text]
