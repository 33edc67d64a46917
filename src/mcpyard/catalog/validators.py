"""Whether arguments fit a tool's schema.

A schema comes from the server, so it is not trusted: it may not fetch anything, and it may not
make a check long. One that cannot be used costs its tool the check and nothing else. What cannot
be judged is left to the server, which checks for itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final, NoReturn, TypeAlias, cast

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from mcpyard.catalog.limits import (
    MAX_ARGUMENT_DEPTH,
    excess,
    more_values_than,
    nested_deeper,
    references,
    texts,
)
from mcpyard.catalog.sentences import problem_count, problems_of
from mcpyard.catalog.showing import as_json, counted, shorten
from mcpyard.domain.errors import Problem

MAX_PROBLEMS: Final = 10

# All errors are built at once, some 10 us each, whether they are looked at or not.
_ALL_ERRORS_UP_TO: Final = 5_000

# The limit counts steps back, and between two of them the engine may read the whole text: only
# both limits together bound the time.
_BACKTRACK_LIMIT: Final = 10_000
_BACKTRACK_TEXT: Final = 10_000

_LINEAR: Final = jsonschema_rs.RegexOptions()
_BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT)

_Schema: TypeAlias = dict[str, Any] | bool
_Patterns: TypeAlias = jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions

_UNDECIDED: Final = (
    ValidationErrorKind.BacktrackLimitExceeded,
    ValidationErrorKind.RegexEngineFailure,
)

_DRAFTS: Final[dict[str, type[jsonschema_rs.Validator]]] = {
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
}


@dataclass(frozen=True, slots=True)
class Validator:
    """A compiled schema, or one that accepts everything and says why in `warning`."""

    warning: str | None = None
    _compiled: jsonschema_rs.Validator | None = field(default=None, repr=False)
    _schema: object = field(default=None, repr=False)
    _backtracks: bool = False

    def check(self, arguments: object) -> tuple[Problem, ...]:
        """What is wrong with the arguments; nothing when they fit."""
        if self._compiled is None:
            return ()
        if nested_deeper(arguments, MAX_ARGUMENT_DEPTH):
            return (Problem("", f"nested deeper than {MAX_ARGUMENT_DEPTH} levels"),)
        if self._backtracks and any(len(text) > _BACKTRACK_TEXT for text in texts(arguments)):
            return ()
        try:
            if self._compiled.is_valid(arguments):
                return ()
            return self._tell(list(_errors(self._compiled, arguments)), arguments)
        except ValueError as error:
            return (Problem("", f"not JSON: {shorten(str(error))}"),)

    def _tell(self, errors: list[ValidationError], arguments: object) -> tuple[Problem, ...]:
        decided = [error for error in errors if not isinstance(error.kind, _UNDECIDED)]
        problems = chain.from_iterable(
            problems_of(error, arguments, self._schema) for error in decided
        )
        told = tuple(islice(problems, MAX_PROBLEMS))
        rest = sum(problem_count(error, arguments) for error in decided) - len(told)
        return (*told, Problem("", f"and {counted(rest, 'more problem')}")) if rest else told


def compile_validator(schema: object) -> Validator:
    """Compile a schema; one that cannot be used gives a validator that accepts everything."""
    if not isinstance(schema, dict | bool):
        return _refused("it is neither an object nor a boolean")
    if reason := excess(cast("object", schema)):
        return _refused(reason)
    try:
        return _compile(cast("_Schema", schema))
    except ValidationError as error:
        return _refused(_why(error, cast("object", schema)))
    except ValueError as error:
        return _refused(f"it is not JSON: {shorten(str(error))}")


def _compile(schema: _Schema) -> Validator:
    draft = jsonschema_rs.Draft202012Validator
    plain = schema
    if isinstance(schema, dict):
        draft = _DRAFTS.get(_without_scheme(schema.get("$schema")), draft)
        # An unknown draft would be fetched, or refused; the class has chosen already.
        plain = {name: part for name, part in schema.items() if name != "$schema"}
    try:
        return Validator(None, _build(draft, plain, _LINEAR), schema)
    except ValidationError:
        # Most likely a pattern that looks around or back; if not, this fails the same way.
        return Validator(None, _build(draft, plain, _BACKTRACKING), schema, _backtracks=True)


def _build(
    draft: type[jsonschema_rs.Validator], schema: _Schema, patterns: _Patterns
) -> jsonschema_rs.Validator:
    return draft(schema, validate_formats=True, retriever=_refuse, pattern_options=patterns)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is not fetched")


def _without_scheme(uri: object) -> str:
    return str(uri).removesuffix("#").partition("://")[2]


def _errors(compiled: jsonschema_rs.Validator, arguments: object) -> Iterator[ValidationError]:
    if not more_values_than(arguments, _ALL_ERRORS_UP_TO):
        yield from compiled.iter_errors(arguments)
        return
    try:
        compiled.validate(arguments)
    except ValidationError as error:
        yield error


def _refused(reason: str) -> Validator:
    return Validator(f"arguments are not checked, as the schema cannot be used: {reason}")


def _why(error: ValidationError, schema: object) -> str:
    if isinstance(error.kind, ValidationErrorKind.Referencing):
        return _unfollowed(error.message, schema)
    return "; ".join(map(str, islice(problems_of(error, schema, None), 1)))


def _unfollowed(message: str, schema: object) -> str:
    for reference in references(schema):
        document = reference.partition("#")[0]
        if document and document in message:
            return f"its reference {as_json(reference)} leads outside, and is not followed"
    return f"its references cannot be followed: {shorten(message)}"
