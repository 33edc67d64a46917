"""Why arguments do not fit a schema, found for not much more than it takes to see that they do not.

All errors at once are wanted, and the validator builds them at once. Where they can be too many,
an outline of the schema is explained instead, and a union only when it is met, one level deep: by
the branch that a property such as `type` selects, or else by the first error of each branch.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from string import ascii_letters
from typing import Final, TypeAlias

from jsonschema_rs import ValidationError, Validator

from mcpyard.catalog.costs import Costs
from mcpyard.catalog.error_messages import PathBase, problem_count, problems_of
from mcpyard.catalog.outline import Outline, Path, checked_union, outline_of
from mcpyard.catalog.pointers import resolve
from mcpyard.catalog.showing import field_of, is_secret, show, value_at
from mcpyard.catalog.subschemas import Schema
from mcpyard.catalog.walks import more_values_than
from mcpyard.catalog.work import Work
from mcpyard.domain.errors import Problem
from mcpyard.domain.narrowing import list_of, object_of

MAX_PROBLEMS: Final = 10
"""Problems that are told; more are only counted."""

MAX_CHECKS: Final = 1_000
"""Keywords that one explanation may have checked: an error of each, at 5 us, are 5 ms."""

# In unions an error takes twice as long, as those of the branches are copied into it.
_MAX_AT_ONCE: Final = MAX_CHECKS // 2

MAX_STEPS: Final = 4 * MAX_CHECKS
"""Steps, of some 0.5 us, that one explanation may take to find out how many errors there can be."""

# All problems of a value are looked for as long as that takes no more checks than these, of some
# 50 ns, and values, of some 0.5 us. Otherwise only the first is told.
_MAX_NATIVE: Final = 100_000
_MAX_VALUES: Final = 2_000

Build: TypeAlias = Callable[[Schema], Validator]


@dataclass(frozen=True, slots=True)
class SchemaFinding:
    """An error of the validator, and how to tell it."""

    error: ValidationError
    root: object
    schema: object
    base: PathBase = field(default_factory=PathBase)

    @property
    def count(self) -> int:
        """How many problems it stands for."""
        return problem_count(self.error, self.root, self.base)

    def problems(self) -> Iterator[Problem]:
        """The problems in sentences."""
        return problems_of(self.error, self.root, self.schema, self.base)


@dataclass(frozen=True, slots=True)
class Unexplained:
    """A value that does not fit, with no more to say about it."""

    root: object
    path: Path = ()
    is_union: bool = False
    count: int = 1

    def problems(self) -> Iterator[Problem]:
        """The problem in a sentence."""
        sentence = "does not match the schema"
        if self.is_union:
            text = show(value_at(self.path, self.root), secret=is_secret(self.path))
            sentence = f"{text} matches no alternative"
        yield Problem(field_of(self.path, self.root), sentence)


_Found: TypeAlias = SchemaFinding | Unexplained


class Explainer:
    """Explains wrong arguments against one schema."""

    def __init__(self, compiled: Validator, schema: object, build: Build, costs: Costs) -> None:
        """Args: what was compiled of which schema, how parts are compiled, what checks cost."""
        self._max_values = min(_MAX_VALUES, _MAX_NATIVE // costs.whole.total)
        self._compiled = compiled
        self._schema = schema
        self._build = build
        self._work = Work(schema, costs)
        self._parts: _Parts | None = None
        self._is_outlined = False

    def explain(self, arguments: object) -> list[_Found]:
        """What is wrong with arguments that do not fit."""
        if self._work.up_to(_MAX_AT_ONCE, [(self._schema, arguments)]) <= _MAX_AT_ONCE:
            errors = self._compiled.iter_errors(arguments)
            return [SchemaFinding(error, arguments, self._schema) for error in errors]
        if parts := self._outline():
            search = _Search(parts, self._work, arguments, self._max_values)
            return [*search.explain()] or [Unexplained(arguments)]
        return [Unexplained(arguments)]

    def _outline(self) -> "_Parts | None":
        if not self._is_outlined:
            outline = outline_of(self._schema)
            self._parts = outline and _Parts(outline, self._build(outline.document))
            self._is_outlined = True
        return self._parts


@dataclass(frozen=True, slots=True)
class _Parts:
    outline: Outline
    compiled: Validator


@dataclass(slots=True)
class _Search:
    """One explanation, with what is left to it: of errors to build, and of steps to count them."""

    parts: _Parts
    work: Work
    arguments: object
    max_values: int
    errors_left: int = MAX_CHECKS
    steps_left: int = MAX_STEPS
    count: int = 0

    def explain(self) -> Iterator[_Found]:
        """What is wrong with the arguments."""
        return self._part(self.parts.outline.number_of(self.parts.outline.root), self.arguments, ())

    def _part(self, number: int, value: object, path: Path) -> Iterator[_Found]:
        """What is wrong with a value, by a part that it should fit."""
        is_cut = not (self.parts.outline.is_opaque(number) or self._has_too_many(value))
        cost = self.errors_left + 1
        if not more_values_than(value, self.errors_left):
            cost = self._cost([self.parts.outline.parts[number]], value)
        if is_cut and cost > self.errors_left:
            yield from self._pieces(number, value, path)
        else:
            yield from self._explained(f"part{number}", cost, value, path)

    def _pieces(self, number: int, value: object, path: Path) -> Iterator[_Found]:
        """The same, piece by piece, so that errors are built only for the pieces that are wrong."""
        outline = self.parts.outline
        cost = self._cost([outline.rests[number]], value)
        yield from self._explained(f"rest{number}", cost, value, path)
        for part, piece, step in outline.steps(number, value):
            if self.parts.compiled.is_valid({f"part{part}": piece}):
                continue
            if self._is_going_on():
                yield from self._part(part, piece, (*path, *step))
            else:
                yield self._unexplained((*path, *step))

    def _explained(self, name: str, cost: int, value: object, path: Path) -> Iterator[_Found]:
        outline = self.parts.outline
        for error in self._errors(name, cost, value):
            finding = SchemaFinding(error, self.arguments, outline.document, PathBase(path, 1))
            place = tuple(finding.base.path_to(error))
            _, definition, keyword, *_ = [*error.schema_path, "", "", ""]
            owner = int(str(definition).lstrip(ascii_letters))
            if union := checked_union(str(definition)):
                yield from self._union(owner, union, place)
            elif keyword == "not" and outline.is_opaque(owner):
                yield self._unexplained(place)
            else:
                self.count += finding.count
                yield finding

    def _union(self, number: int, keyword: str, path: Path) -> Iterator[_Found]:
        if not self._is_going_on():
            yield self._unexplained(path, is_union=True)
            return
        outline = self.parts.outline
        value = value_at(path, self.arguments)
        branches = outline.branches(number, keyword)
        self.steps_left -= len(branches)
        selected = selected_branch(outline.root, branches, value)
        # It may fit, where the value must fit one branch and fits several.
        if (
            findings := []
            if selected is None
            else [*self._part(outline.number_of(selected), value, path)]
        ):
            yield from findings
        elif (cost := self._cost(branches, value)) <= self.errors_left:
            yield from self._explained(f"{keyword}{number}", cost, value, path)
        else:
            yield self._unexplained(path, is_union=True)

    def _unexplained(self, path: Path, *, is_union: bool = False) -> Unexplained:
        self.count += 1
        return Unexplained(self.arguments, path, is_union)

    def _errors(self, name: str, cost: int, value: object) -> list[ValidationError]:
        whole = {name: value}
        if cost <= self.errors_left and not self._has_too_many(value):
            self.errors_left -= cost
            return list(self.parts.compiled.iter_errors(whole))
        try:
            self.parts.compiled.validate(whole)
        except ValidationError as error:
            # Its traceback would hold this frame and the arguments, and be held by them.
            return [error.with_traceback(None)]
        return []

    def _cost(self, schemas: list[object], value: object) -> int:
        pairs = [(schema, value) for schema in schemas]
        limit = min(self.errors_left, self.steps_left)
        cost = self.work.up_to(limit, pairs, into_unions=False)
        self.steps_left -= cost
        return cost if cost <= limit else self.errors_left + 1

    def _has_too_many(self, value: object) -> bool:
        return more_values_than(value, self.max_values)

    def _is_going_on(self) -> bool:
        return self.count < MAX_PROBLEMS and self.errors_left > 0 and self.steps_left > 0


def selected_branch(root: object, branches: list[object], value: object) -> object:
    """The one branch whose constants, such as that of `type`, are those of the value, or None."""
    fitting = [branch for branch in branches if _is_selected(root, branch, object_of(value))]
    return fitting[0] if len(fitting) == 1 else None


def _is_selected(root: object, branch: object, members: Schema) -> bool:
    node = object_of(branch)
    if isinstance(reference := node.get("$ref"), str):
        node = object_of(resolve(root, reference))
    constants = {
        name: list_of(part["enum"]) if "enum" in part else [part["const"]]
        for name, schema in object_of(node.get("properties")).items()
        if name in members and not {"enum", "const"}.isdisjoint(part := object_of(schema))
    }
    return bool(constants) and all(members[name] in allowed for name, allowed in constants.items())
