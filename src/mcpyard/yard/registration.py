"""A server to be added, out of what was asked for; an error names the field."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from msgspec import Struct

from mcpyard.domain.definition import checks
from mcpyard.domain.definition.parsing import ParsedDefinition, read_definition
from mcpyard.domain.desired import PolicyPatch
from mcpyard.domain.errors import DefinitionError, NameRefused, Problem
from mcpyard.domain.model import POLICY_FIELDS, Config, Scope, Wanted

_NOT_THE_DEFINITION: Final = frozenset({"name", "scope", "start"})
_NAMING: Final = f"Choose a readable name of up to {checks.MAX_NAME} characters, not like an id."


class Registration(Struct, frozen=True):
    """A request to add a server; without a scope or a goal, with the default one."""

    name: str
    scope: Scope | None
    goal: Wanted | None
    reading: ParsedDefinition

    @classmethod
    def of(cls, body: Mapping[str, object]) -> "Registration":
        """Read a definition in any spelling, with `name`, and optionally `scope` and `start`.

        Raises:
            NameRefused: No server can have the name.
            DefinitionError: The definition cannot be used.
        """
        name, goal = name_of(body.get("name")), _goal(body.get("start"))
        raw = {key: value for key, value in body.items() if key not in _NOT_THE_DEFINITION}
        reading = read_definition(raw)
        return cls(name, _scope(body.get("scope")), goal, reading)

    @property
    def policy(self) -> PolicyPatch:
        """What is to be stored beside its document."""
        goal = {"wanted": self.goal.value} if self.goal else {}
        return {**policy_of(self.reading.config), **goal}


class Registered(Struct, frozen=True):
    """A server that was added, and what is odd about it."""

    id: UUID
    name: str
    warnings: tuple[Problem, ...]


def name_of(value: object) -> str:
    """A name that a server can have."""
    if not isinstance(value, str):
        raise DefinitionError.of(Problem("name", "must be a string"))
    if fault := checks.name_fault(value):
        raise NameRefused.of(Problem("name", fault)).advising(_NAMING)
    return value


def policy_of(config: Config) -> PolicyPatch:
    """The policy that a definition itself has."""
    dumped = config.model_dump(mode="json", exclude_unset=True)
    return {name: value for name, value in dumped.items() if name in POLICY_FIELDS}


def launch_only(config: Config) -> Config:
    """A definition without its policy."""
    launch = config.model_fields_set - POLICY_FIELDS | {"type"}
    return type(config).model_validate({name: getattr(config, name) for name in launch})


def _scope(value: object) -> Scope | None:
    if value is None:
        return None
    if not isinstance(value, str) or value not in {*Scope}:
        expected = ", ".join(Scope)
        raise DefinitionError.of(Problem("scope", f"is not one of {expected}"))
    return Scope(value)


def _goal(value: object) -> Wanted | None:
    if value is None:
        return None
    if not isinstance(value, bool):
        raise DefinitionError.of(Problem("start", "must be true or false"))
    return Wanted.RUNNING if value else Wanted.STOPPED
