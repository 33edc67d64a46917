"""The steps of a copy that carry references to variables from one client's means to another's."""

from collections.abc import Mapping
from typing import Final, cast

from mcpyard.formats.copying.draft import Draft
from mcpyard.formats.copying.references import (
    ClientReference,
    parts,
    reference,
    translate,
    whole_reference,
)
from mcpyard.formats.fields import OAUTH_TEXTS, Field
from mcpyard.formats.reference_syntax import ReferenceSyntax
from mcpyard.formats.warnings import WarningKind

BEARER_PREFIX: Final = "Bearer "
AUTHORIZATION: Final = "Authorization"

_TEXTS: Final = (Field.COMMAND, Field.URL, Field.CWD, *OAUTH_TEXTS)
_PAIRS: Final = (Field.ENV, Field.HEADERS)


def gather(draft: Draft) -> None:
    """Put references into the fields that a client has in place of a dialect."""
    dialect = draft.source.client.dialect
    if draft.target.client.dialect.reference or not dialect.reference:
        return
    if draft.holds(Field.ENV_VARS):
        _gather_variables(draft, dialect)
    if draft.holds(Field.ENV_HEADERS) or draft.holds(Field.BEARER):
        _gather_headers(draft, dialect)


def translate_texts(draft: Draft) -> None:
    """Write every text in the target's dialect."""
    for name in _TEXTS:
        if isinstance(text := draft.values.get(name), str):
            draft.values[name] = _translated(draft, name, text)
    for name in _PAIRS:
        if name in draft.values:
            draft.values[name] = {
                key: _translated(draft, name, text, f".{key}")
                for key, text in _pairs(draft, name).items()
            }
    if Field.ARGS in draft.values:
        args = cast("tuple[str, ...]", draft.values[Field.ARGS])
        draft.values[Field.ARGS] = tuple(
            _translated(draft, Field.ARGS, text, f"[{index}]") for index, text in enumerate(args)
        )


def spread(draft: Draft) -> None:
    """Turn the fields that stand for references into references where the target has those."""
    values = draft.values
    if not draft.holds(Field.ENV_VARS) and Field.ENV_VARS in values:
        names = cast("tuple[str, ...]", values[Field.ENV_VARS])
        _spread(draft, Field.ENV_VARS, Field.ENV, dict(zip(names, names, strict=True)))
    if not draft.holds(Field.ENV_HEADERS) and Field.ENV_HEADERS in values:
        _spread(draft, Field.ENV_HEADERS, Field.HEADERS, _pairs(draft, Field.ENV_HEADERS))
    if not draft.holds(Field.BEARER) and Field.BEARER in values:
        pair = {AUTHORIZATION: str(values[Field.BEARER])}
        _spread(draft, Field.BEARER, Field.HEADERS, pair, BEARER_PREFIX)


def _gather_variables(draft: Draft, dialect: ReferenceSyntax) -> None:
    env = _pairs(draft, Field.ENV)
    names = [name for name, text in env.items() if whole_reference(text, dialect) == name]
    for name in names:
        reason = "passed through from the environment: listed in env_vars"
        draft.warn(WarningKind.TRANSLATED, Field.ENV, reason, value=env[name], where=f".{name}")
    if names:
        present = cast("tuple[str, ...]", draft.values.get(Field.ENV_VARS, ()))
        draft.values[Field.ENV_VARS] = tuple(dict.fromkeys((*present, *names)))
        _keep(draft, Field.ENV, {key: env[key] for key in env if key not in names})


def _gather_headers(draft: Draft, dialect: ReferenceSyntax) -> None:
    headers: dict[str, str] = {}
    named: dict[str, str] = {}
    for header, text in _pairs(draft, Field.HEADERS).items():
        bearer = _bearer(header, text, dialect) if draft.holds(Field.BEARER) else None
        name = whole_reference(text, dialect) if draft.holds(Field.ENV_HEADERS) else None
        if bearer:
            draft.values[Field.BEARER] = bearer
            target = Field.BEARER
        elif name:
            named[header] = name
            target = Field.ENV_HEADERS
        else:
            headers[header] = text
            continue
        reason = f"read from a variable: named in {draft.target.shape.field_names[target]}"
        draft.warn(WarningKind.TRANSLATED, Field.HEADERS, reason, value=text, where=f".{header}")
    if named:
        draft.values[Field.ENV_HEADERS] = named
    if Field.HEADERS in draft.values and len(headers) < len(_pairs(draft, Field.HEADERS)):
        _keep(draft, Field.HEADERS, headers)


def _bearer(header: str, text: str, dialect: ReferenceSyntax) -> str | None:
    if header.lower() != AUTHORIZATION.lower():
        return None
    match parts(text, dialect):
        case (str(prefix), ClientReference(name, None)) if prefix == BEARER_PREFIX:
            return name
        case _:
            return None


def _keep(draft: Draft, name: Field, pairs: Mapping[str, str]) -> None:
    if pairs:
        draft.values[name] = pairs
    else:
        del draft.values[name]


def _translated(draft: Draft, name: Field, text: str, where: str = "") -> str:
    source, target = (each.client.dialect_of(name) for each in (draft.source, draft.target))
    translation = translate(text, source, target)
    if translation.loss:
        reason = f"{draft.title} {translation.loss}"
        draft.warn(WarningKind.APPROXIMATED, name, reason, value=text, where=where)
    elif translation.text != text:
        reason = f"references rewritten in the syntax of {draft.title}"
        draft.warn(WarningKind.TRANSLATED, name, reason, value=text, where=where)
    return translation.text


def _spread(
    draft: Draft, name: Field, home: Field, variables: Mapping[str, str], prefix: str = ""
) -> None:
    dialect = draft.target.client.dialect
    if draft.literal or not draft.holds(home) or not dialect.reference:
        draft.drop(name, f"not supported by {draft.title}: dropped")
        return
    present = _pairs(draft, home)
    taken = {key.lower() for key in present} if home is Field.HEADERS else set(present)
    if all(key.lower() in taken or key in taken for key in variables):
        draft.drop(name, f"dropped: the same names in {draft.word(home)} take precedence")
        return
    fresh = {
        key: prefix + reference(variable, dialect)
        for key, variable in variables.items()
        if (key.lower() if home is Field.HEADERS else key) not in taken
    }
    reason = f"converted to references in {draft.target.shape.field_names[home]}"
    draft.warn(WarningKind.TRANSLATED, name, reason)
    del draft.values[name]
    draft.values[home] = {**present, **fresh}


def _pairs(draft: Draft, name: Field) -> Mapping[str, str]:
    return cast("Mapping[str, str]", draft.values.get(name, {}))
