"""Whether arguments fit a tool's schema.

A schema comes from the server, so it is not trusted: it may not fetch anything, and it may not
make a check long. One that cannot be used costs its tool the check and nothing else. What cannot
be judged is left to the server, which checks for itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, Final, NoReturn, TypeAlias, cast

import jsonschema_rs
from jsonschema_rs import ValidationError, ValidationErrorKind

from mcpyard.catalog.comparing import SLOW_NUMBER, slow_numbers
from mcpyard.catalog.costs import Cost, Costs, TooCostly, costs_of
from mcpyard.catalog.error_messages import problems_of
from mcpyard.catalog.explaining import MAX_PROBLEMS, Explainer, SchemaFinding, Unexplained
from mcpyard.catalog.showing import as_json, counted, shorten
from mcpyard.catalog.walks import Excess, excess, is_plain, references, texts
from mcpyard.domain.errors import Problem

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
class _Check:
    """A compiled schema, and what it may be given.

    Attributes:
        compiled: The schema.
        explainer: Says why arguments do not fit it.
        cost: What it costs to use it.
        backtracks: Whether one of its patterns can take long on a text.
        max_plain: So many members of arguments without objects and arrays are never too many.
    """

    compiled: jsonschema_rs.Validator
    explainer: Explainer
    cost: Cost
    backtracks: bool
    max_plain: int

    def could_backtrack(self, arguments: object) -> bool:
        """Whether a pattern could take long on a text of the arguments."""
        return self.backtracks and any(len(text) > _BACKTRACK_TEXT for text in texts(arguments))


@dataclass(frozen=True, slots=True)
class Validator:
    """A compiled schema, or one that accepts everything and says why in `warning`."""

    warning: str | None = None
    _check: _Check | None = field(default=None, repr=False)

    def check(self, arguments: object) -> tuple[Problem, ...]:
        """What is wrong with the arguments; nothing when they fit."""
        if (check := self._check) is None:
            return ()
        if not is_plain(arguments, check.max_plain):
            too_large = _excess(arguments, check.cost)
            if too_large is Excess.DEPTH:
                return (Problem("", f"nested deeper than {check.cost.max_depth} levels"),)
            # What could take long to check is left to the server.
            if too_large or check.could_backtrack(arguments):
                return ()
        try:
            if check.compiled.is_valid(arguments):
                return ()
            return _problems(check.explainer.explain(arguments))
        except ValueError as error:
            return (Problem("", f"not JSON: {shorten(str(error))}"),)


def _excess(arguments: object, cost: Cost) -> Excess | None:
    """What there is too much of in arguments to check them."""
    over = excess(arguments, cost.max_depth, cost.max_numbers)
    if over is Excess.VALUES:
        most = cost.max_values - SLOW_NUMBER * slow_numbers(arguments)
        return excess(arguments, cost.max_depth, most)
    return over


def _problems(findings: Sequence[SchemaFinding | Unexplained]) -> tuple[Problem, ...]:
    decided = [each for each in findings if not _is_undecided(each)]
    problems = chain.from_iterable(each.problems() for each in decided)
    shown_problems = tuple(islice(problems, MAX_PROBLEMS))
    rest = sum(each.count for each in decided) - len(shown_problems)
    return (
        (*shown_problems, Problem("", f"and {counted(rest, 'more problem')}"))
        if rest
        else shown_problems
    )


def _is_undecided(finding: SchemaFinding | Unexplained) -> bool:
    return isinstance(finding, SchemaFinding) and isinstance(finding.error.kind, _UNDECIDED)


def compile_validator(schema: object) -> Validator:
    """Compile a schema; one that cannot be used gives a validator that accepts everything."""
    if not isinstance(schema, dict | bool):
        return _refused("it is neither an object nor a boolean")
    try:
        return _compile(cast("_Schema", schema), costs_of(cast("object", schema)))
    except TooCostly as error:
        return _refused(str(error))
    except ValidationError as error:
        return _refused(_why(error, cast("object", schema)))
    except ValueError as error:
        return _refused(f"it is not JSON: {shorten(str(error))}")


def _compile(schema: _Schema, costs: Costs) -> Validator:
    draft = jsonschema_rs.Draft202012Validator
    plain = schema
    if isinstance(schema, dict):
        draft = _DRAFTS.get(_without_scheme(schema.get("$schema")), draft)
        # An unknown draft would be fetched, or refused; the class has chosen already.
        plain = {name: part for name, part in schema.items() if name != "$schema"}
    try:
        return Validator(None, _checked(draft, plain, schema, costs, _LINEAR))
    except ValidationError:
        # Most likely a pattern that looks around or back; if not, this fails the same way.
        return Validator(None, _checked(draft, plain, schema, costs, _BACKTRACKING))


def _checked(
    draft: type[jsonschema_rs.Validator],
    plain: _Schema,
    schema: object,
    costs: Costs,
    patterns: _Patterns,
) -> _Check:
    def build(part: _Schema) -> jsonschema_rs.Validator:
        return _build(draft, part, patterns)

    compiled = build(plain)
    explainer = Explainer(compiled, schema, build, costs)
    cost, backtracks = costs.whole, patterns is _BACKTRACKING
    max_plain = 0 if backtracks else cost.max_numbers
    return _Check(compiled, explainer, cost, backtracks, max_plain)


def _build(
    draft: type[jsonschema_rs.Validator], schema: _Schema, patterns: _Patterns
) -> jsonschema_rs.Validator:
    return draft(schema, validate_formats=True, retriever=_refuse, pattern_options=patterns)


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is not fetched")


def _without_scheme(uri: object) -> str:
    return str(uri).removesuffix("#").partition("://")[2]


def _refused(reason: str) -> Validator:
    return Validator(f"arguments are not validated, because the schema is unusable: {reason}")


def _why(error: ValidationError, schema: object) -> str:
    if isinstance(error.kind, ValidationErrorKind.Referencing):
        return _unfollowed(error.message, schema)
    return "; ".join(map(str, islice(problems_of(error, schema, None), 1)))


def _unfollowed(message: str, schema: object) -> str:
    for reference in references(schema):
        document = reference.partition("#")[0]
        if document and document in message:
            return f"its reference {as_json(reference)} is external and is not followed"
    return f"its references cannot be followed: {shorten(message)}"
