"""The many spellings of a definition, read into the one model.

`{"command": "npx", "args": [...], "env": {...}, "transport": "stdio"}`,
`{"type": "local", "command": ["npx", ...], "environment": {...}}` and
`{"type": "stdio", ...}` mean the same, and so do the words for remote ones. Whatever is wrong is
told in the words that were written: `env.PORT`, `args[1]`, not the model's.
"""

from collections.abc import Mapping
from typing import Final, cast

from msgspec import Struct
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mcpyard.domain.definition.old_names import NEW_NAMES, written_names
from mcpyard.domain.errors import DefinitionError, Problem
from mcpyard.domain.model import (
    CONFIG,
    Config,
    LocalConfig,
    OAuthClient,
    Policy,
    RemoteConfig,
    Transport,
)
from mcpyard.domain.narrowing import is_array, is_mapping, mapping_of

_KINDS: Final[dict[str, tuple[str, Transport | None]]] = {
    "local": ("local", Transport.STDIO),
    "stdio": ("local", Transport.STDIO),
    "remote": ("remote", None),
    "http": ("remote", Transport.HTTP),
    "streamable-http": ("remote", Transport.HTTP),
    "streamable_http": ("remote", Transport.HTTP),
    "streamableHttp": ("remote", Transport.HTTP),
    "sse": ("remote", Transport.SSE),
}

_SHARED: Final = {"type", "transport", "disabled", *NEW_NAMES} | {
    key for name, info in Policy.model_fields.items() for key in (name, info.alias or name)
}
_OWN: Final = {
    "local": {"command", "args", "env", "environment", "cwd"},
    "remote": {"url", "headers", "oauth"},
}
OAUTH_WORDS: Final = {
    key for name, info in OAuthClient.model_fields.items() for key in (name, info.alias or name)
}

_EXPECTED: Final = {
    "string_type": "a string",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "literal_error": "one of the known words",
    "enum": "running, stopped or on_demand",
}
_BOUNDS: Final = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
}


Names = dict[tuple[int | str, ...], str]
"""What was written for a field of the model, by its path."""


class ParsedDefinition(Struct, frozen=True):
    """A definition as it was understood, and what had to be guessed or passed over.

    Attributes:
        config: The definition.
        warnings: What was inferred, and what was left out.
        left_out: What was left out.
    """

    config: Config
    warnings: tuple[Problem, ...] = ()
    left_out: tuple[Problem, ...] = ()


def read_definition(raw: object, *, strict: bool = False) -> ParsedDefinition:
    """Read a definition in any of its spellings, or raise `DefinitionError`.

    Strictly, a missing `transport` or `args` is refused instead of inferred.
    """
    if isinstance(raw, (LocalConfig, RemoteConfig)):
        return ParsedDefinition(raw)
    if not is_mapping(raw):
        raise DefinitionError.of(Problem("", f"expected an object, found {describe(raw)}"))
    written = {str(key): value for key, value in raw.items() if value is not None}
    kind, transport, inferred = _kind(written)
    if kind == "local" and isinstance(written.get("command"), str) and "args" not in written:
        inferred.append(Problem("args", "is missing; assumed to be empty"))
    if strict and inferred:
        raise DefinitionError.of(*(Problem(each.field, "is missing") for each in inferred))
    fields, names = _rename(written, kind, transport)
    try:
        config = CONFIG.validate_python(fields)
    except ValidationError as error:
        raise DefinitionError.of(*(_problem(each, names) for each in error.errors())) from None
    if config.singleton and config.isolation == "per-client":
        raise DefinitionError.of(Problem("singleton", "is not possible with isolation per-client"))
    left_out = tuple(_passed_over(written, kind))
    return ParsedDefinition(config, (*inferred, *left_out), left_out)


def describe(value: object) -> str:
    """A value in words, with no more of it than helps and nothing of a string."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return f"the number {str(value)[:40]}"
    kind = type(value).__name__
    words = {"str": "a string", "dict": "an object", "list": "a list", "tuple": "a list"}
    return words.get(kind, f"a {kind}")


def _kind(written: Mapping[str, object]) -> tuple[str, Transport | None, list[Problem]]:
    """Local or remote, the transport if one was said, and what was inferred."""
    if "command" in written and "url" in written:
        raise DefinitionError.of(Problem("url", "conflicts with command; set only one of them"))
    words = {key: _word(key, written[key]) for key in ("type", "transport") if key in written}
    kinds = {kind for kind, _ in words.values()}
    transports = {transport for _, transport in words.values() if transport}
    if len(kinds) > 1 or len(transports) > 1:
        message = f'"{written["transport"]}" contradicts type "{written["type"]}"'
        raise DefinitionError.of(Problem("transport", message))
    if kinds:
        kind = kinds.pop()
        _need("command" if kind == "local" else "url", written)
        return kind, next(iter(transports), None), []
    if "command" not in written and "url" not in written:
        raise DefinitionError.of(Problem("command", "is missing, and so is url; set one of them"))
    kind, word = ("local", "stdio") if "command" in written else ("remote", "http, else sse")
    return kind, None, [Problem("transport", f"is missing; assumed to be {word}")]


def _word(key: str, value: object) -> tuple[str, Transport | None]:
    if not isinstance(value, str):
        raise DefinitionError.of(Problem(key, f"expected a string, found {describe(value)}"))
    if value not in _KINDS:
        expected = "expected one of stdio, http, sse, local, remote"
        raise DefinitionError.of(Problem(key, f'"{value[:40]}" is unknown; {expected}'))
    return _KINDS[value]


def _need(field: str, written: Mapping[str, object]) -> None:
    if field not in written:
        raise DefinitionError.of(Problem(field, "is missing"))


def _rename(
    written: Mapping[str, object], kind: str, transport: Transport | None
) -> tuple[dict[str, object], Names]:
    """The fields in the model's names, and the written name of each that differs."""
    fields = {key: value for key, value in written.items() if key in _SHARED | _OWN[kind]}
    fields.pop("transport", None)
    fields["type"] = kind
    names = written_names(fields)
    if "disabled" in fields:
        _invert_disabled(fields, names)
    if kind == "remote":
        return _oauth(fields) | ({"transport": transport} if transport else {}), names
    if "env" in fields:
        _only_one("env", "environment", fields)
        fields["environment"] = fields.pop("env")
        names["environment",] = "env"
    if isinstance(fields.get("command"), str):
        fields["command"] = [fields["command"], *_args(fields.pop("args", []))]
        names["command",] = "args"
    elif "args" in fields:
        raise DefinitionError.of(Problem("args", "conflicts with a command that is already a list"))
    return fields, names


def _oauth(fields: dict[str, object]) -> dict[str, object]:
    """The fields with what we know of `oauth`, since other programs say more there."""
    oauth = fields.get("oauth")
    if oauth is False:
        return {key: value for key, value in fields.items() if key != "oauth"}
    if not is_mapping(oauth):
        return fields
    members = oauth.items()
    return fields | {"oauth": {key: value for key, value in members if key in OAUTH_WORDS}}


def _invert_disabled(fields: dict[str, object], names: Names) -> None:
    _only_one("disabled", "enabled", fields)
    disabled = fields.pop("disabled")
    fields["enabled"] = not disabled if isinstance(disabled, bool) else disabled
    names["enabled",] = "disabled"


def _only_one(one: str, other: str, fields: Mapping[str, object]) -> None:
    if other in fields:
        raise DefinitionError.of(Problem(one, f"conflicts with {other}, which means the same"))


def _args(value: object) -> list[object]:
    if not is_array(value):
        raise DefinitionError.of(Problem("args", f"expected a list, found {describe(value)}"))
    return value


def _passed_over(written: Mapping[str, object], kind: str) -> list[Problem]:
    names = _SHARED | _OWN[kind]
    elsewhere = _OWN["remote" if kind == "local" else "local"]
    oauth = written.get("oauth") if kind == "remote" else None
    inner: Mapping[str, object] = mapping_of(oauth)
    unknown = [
        *(key for key in written if key not in names),
        *(f"oauth.{key}" for key in inner if key not in OAUTH_WORDS),
    ]
    return [
        Problem(
            key[:80],
            f"does not apply to a {kind} server" if key in elsewhere else "is unknown; ignored",
        )
        for key in unknown
    ]


def _problem(error: ErrorDetails, names: Names) -> Problem:
    # The first part of the location is the union's tag.
    path = [part for part in error["loc"][1:] if part != "[key]"]
    if error["type"] == "two_names":
        old, new = (error.get("ctx", {})[which] for which in ("old", "new"))
        return Problem(_written([*path, old], {}), f"stands beside {new}; they mean the same")
    return Problem(_written(path, names), _sentence(error))


def _written(path: list[int | str], names: Names) -> str:
    spelled = [names.get(tuple(path[: at + 1]), part) for at, part in enumerate(path)]
    head, rest = path[0], spelled[1:]
    name = str(spelled[0])
    if head == "command" and name == "args":
        index = rest[0] if rest else 0
        name, rest = ("args", [cast("int", index) - 1]) if index else ("command", [])
    return name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)


def _sentence(error: ErrorDetails) -> str:
    kind, value = error["type"], error["input"]
    if error["loc"][1:] == ("command",) and kind == "list_type":
        return f"expected a string or a list of strings, found {describe(value)}"
    if kind in _EXPECTED:
        advice = f' (write "{value}")' if kind == "string_type" and type(value) is int else ""
        return f"expected {_EXPECTED[kind]}, found {describe(value)}{advice}"
    if kind in _BOUNDS:
        name, words = _BOUNDS[kind]
        return f"must be {words} {error.get('ctx', {})[name]}, found {describe(value)}"
    if kind == "extra_forbidden":
        return "is unknown"
    return error["msg"]
