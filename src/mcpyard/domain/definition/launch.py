"""What is really started or spoken to: a definition after its variables were filled in.

A launch lives in memory only. Its digest says whether a running connection is still the right one.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from msgspec import Struct, to_builtins
from pydantic.alias_generators import to_camel

from mcpyard.domain.definition import checks
from mcpyard.domain.definition.expand import BadReference, Lookup, SecretText, expand
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import Config, LocalConfig, OAuthClient, Policy, RemoteConfig, Transport


@dataclass(frozen=True, slots=True)
class LocalLaunch:
    """A process to start; its `secrets` are values that were stored as such."""

    command: tuple[str, ...]
    environment: dict[str, str]
    cwd: str | None
    inherit: tuple[str, ...]
    singleton: bool = False
    secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class OAuthValues:
    """What the yard is known by where people sign in (see `OAuthClient`); empty is none."""

    client_id: str = ""
    client_secret: str = field(default="", repr=False)
    metadata_url: str = ""


@dataclass(frozen=True, slots=True)
class RemoteLaunch:
    """An address to speak to; `transport` is None where it has to be found out."""

    url: str
    headers: dict[str, str]
    transport: Transport | None
    oauth: OAuthValues = OAuthValues()
    secrets: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    @property
    def brings_token(self) -> bool:
        """Whether the definition names a token itself, so that nobody signs in for it."""
        return any(name.lower() == "authorization" for name in self.headers)


Launch = LocalLaunch | RemoteLaunch


class Unlaunchable(Struct, frozen=True):
    """A definition that cannot be launched as things are: each problem names field and variable.

    `missing` are the variables that are not set.
    """

    problems: tuple[Problem, ...]
    missing: tuple[str, ...] = ()


def make_launch(config: Config, lookup: Lookup) -> Launch | Unlaunchable:
    """Fill in the variables of a definition."""
    filling = _Filling(lookup)
    launch = filling.local(config) if isinstance(config, LocalConfig) else filling.remote(config)
    if not filling.problems:
        return launch
    return Unlaunchable(tuple(filling.problems), tuple(filling.missing))


def digest(value: Launch | Unlaunchable | Policy) -> str:
    """A short digest of a value: equal values have equal digests, in every run of the program."""
    plain = value.model_dump(mode="json") if isinstance(value, Policy) else to_builtins(value)
    # They are in the values that they became part of.
    plain.pop("secrets", None)
    if isinstance(value, LocalLaunch) and not value.singleton:
        # As it was before there were singletons: what is stored under a digest is found again.
        del plain["singleton"]
    text = json.dumps([type(value).__name__, plain], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class _Filling:
    """Fills in one definition and collects everything that is wrong, not only the first."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.secrets: set[str] = set()
        self.problems: list[Problem] = []
        self.missing: dict[str, None] = {}

    def local(self, config: LocalConfig) -> LocalLaunch:
        command = tuple(
            self._fill(f"args[{index - 1}]" if index else "command", part, checks.text_fault)
            for index, part in enumerate(config.command)
        )
        if not command[0].strip() and not self.problems:
            self.problems.append(Problem("command", "is empty after variables are expanded"))
        environment = dict(self._pairs("env", config.environment))
        cwd = None if config.cwd is None else self._fill("cwd", config.cwd, checks.text_fault)
        inherit = tuple(config.inherit)
        secrets = frozenset(self.secrets)
        return LocalLaunch(command, environment, cwd, inherit, config.singleton, secrets)

    def remote(self, config: RemoteConfig) -> RemoteLaunch:
        url = self._fill("url", config.url, checks.url_fault)
        headers = dict(self._pairs("headers", config.headers))
        oauth = self._oauth(config.oauth)
        return RemoteLaunch(url, headers, config.transport, oauth, frozenset(self.secrets))

    def _oauth(self, oauth: OAuthClient | None) -> OAuthValues:
        settings = oauth.model_dump(exclude_none=True) if oauth else {}
        return OAuthValues(
            **{
                name: self._fill(f"oauth.{to_camel(name)}", text, checks.text_fault)
                for name, text in settings.items()
            }
        )

    def _pairs(self, field: str, pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
        for name, value in pairs.items():
            fault = checks.text_fault if field == "env" else _header_check(name)
            yield name, self._fill(f"{field}.{name}", value, fault)

    def _fill(self, field: str, text: str, check: Callable[[str], str | None]) -> str:
        try:
            expansion = expand(text, self._noted)
        except BadReference as error:
            self.problems.append(Problem(field, f"{error.message} (at character {error.offset})"))
            return ""
        self.missing |= dict.fromkeys(expansion.missing)
        for name in expansion.missing:
            self.problems.append(Problem(field, f"the variable {name} is not set"))
        if not expansion.missing and (fault := check(expansion.text)):
            self.problems.append(Problem(field, fault))
        return expansion.text

    def _noted(self, name: str) -> str | None:
        value = self._lookup(name)
        if isinstance(value, SecretText):
            self.secrets.add(str(value))
        return value


def _header_check(name: str) -> Callable[[str], str | None]:
    return lambda value: checks.header_fault(name, value)
