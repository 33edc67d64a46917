"""What a change does to a file, line by line, with no secret in it.

The difference is taken of the texts as they are, and the secrets are masked in its lines: so a
change of nothing but a secret is still seen.
"""

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Final

from mcpyard.domain.definition.secret_names import names_secret
from mcpyard.domain.definition.secret_text import MASKED, shown_args, shown_text, shown_url
from mcpyard.domain.errors import DocumentBroken
from mcpyard.domain.files import FileWrite
from mcpyard.domain.narrowing import is_array, is_mapping
from mcpyard.formats.documents import editor_for
from mcpyard.yard.masking import is_secret

_HOLDERS: Final = frozenset({"env", "environment", "envs", "headers", "http_headers"})
_OF_VARIABLES: Final = ("env_var", "EnvVar")
"""How the names of fields end that hold the name of a variable."""

_STRING: Final = r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\''
_PAIR: Final = re.compile(
    rf"(?P<key>{_STRING}|[A-Za-z0-9_.-]+)(?P<between>\s*[:=]\s*)(?P<value>{_STRING})"
)
_BARE_PAIR: Final = re.compile(
    rf"(?P<key>{_STRING}|[A-Za-z0-9_.-]+)(?P<between>:[ \t]+)(?P<value>[^\s\"'#][^\n]*?)"
    r"(?=[ \t]*(?:[,}\]]|[ \t]#|\r?\n|\Z))"
)
"""A value of YAML that has no quotes."""

_AROUND: Final = 3
"""Lines that are shown around a change."""

_ELEMENT: Final = re.compile(
    r"([-+ ]?[ \t]*-[ \t]+)([^\s\"'#][^\n]*?)(?=[ \t]*(?:[ \t]#|\r?\n|\Z))"
)
_HUNK: Final = re.compile(r"^@@ -(\d+)(\S*) \+(\d+)(\S*) @@")
_ALONE: Final = re.compile(_STRING)
_LONG_ENOUGH: Final = 8
"""Characters of a secret that is masked wherever it stands, not only beside its key."""


_ARGUMENTS: Final = frozenset({"args", "command"})


@dataclass(frozen=True, slots=True)
class MaskedSecrets:
    """The literals that are not shown.

    Attributes:
        pairs: With their keys.
        args: Arguments that contain secrets, and what is shown of each.
    """

    pairs: frozenset[tuple[str, str]]
    args: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def long(self) -> frozenset[str]:
        """Those that are told apart from ordinary words."""
        return frozenset(value for _, value in self.pairs if len(value) >= _LONG_ENOUGH)

    @property
    def lines(self) -> frozenset[str]:
        """The lines of those that have several."""
        split = (value.splitlines() for _, value in self.pairs if "\n" in value)
        return frozenset(line for lines in split for line in lines if line.strip())


def diff_of(change: FileWrite, *, show_secrets: bool = False) -> str:
    """The unified difference of a change; a file that is not there is named `/dev/null`."""
    before, after = change.before or "", change.after or ""
    names = (
        change.path if change.before is not None else "/dev/null",
        change.path if change.after is not None else "/dev/null",
    )
    lines = _difference(_lines(before), _lines(after), names)
    if not show_secrets:
        secrets = secrets_of(change)
        lines = [hidden(line, secrets) for line in lines]
    return "".join(map(_ended, lines))


def secrets_of(change: FileWrite) -> MaskedSecrets:
    """The secrets of both texts."""
    pairs: set[tuple[str, str]] = set()
    args: dict[str, str] = {}
    for text in filter(None, (change.before, change.after)):
        pairs |= set(_literals(_value(change.path, text), args))
    return MaskedSecrets(frozenset(pairs), args)


def hidden(line: str, secrets: MaskedSecrets) -> str:
    """A line with its secrets masked."""
    for each in secrets.lines:
        line = line.replace(each, MASKED)
    if secrets.pairs or secrets.args:
        line = _PAIR.sub(lambda match: _hide_pair(match, secrets), line)
        line = _ALONE.sub(lambda match: _hide_alone(match, secrets), line)
        line = _BARE_PAIR.sub(lambda match: _hide_bare(match, secrets), line)
        line = _hide_bare_words(line, secrets)
    return shown_text(line)


def _hide_bare(match: re.Match[str], secrets: MaskedSecrets) -> str:
    key, value = _plain(match["key"]), match["value"]
    if (key, value) not in secrets.pairs:
        return match.group()
    return f"{match['key']}{match['between']}{_mask(value)}"


def _hide_bare_words(line: str, secrets: MaskedSecrets) -> str:
    """Mask what has no quotes, as in YAML, where it is all of an element or longer than a word."""
    element = _ELEMENT.match(line)
    if element and element[2] in secrets.args:
        return element[1] + secrets.args[element[2]] + line[element.end(2) :]
    for value in secrets.long:
        line = line.replace(value, _mask(value))
    return line


def _literals(value: object, args: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The secrets of a document by their keys; those in arguments are added to `args`."""
    # A stack, not a recursion: some files hold hundreds of thousands of values.
    stack: list[tuple[str, object, bool]] = [("", value, False)]
    while stack:
        key, item, held = stack.pop()
        if isinstance(item, str):
            if _is_literal(key, item, held=held):
                yield key, item
        elif is_mapping(item):
            members = item.items()
            stack += [(name, each, held or name in _HOLDERS) for name, each in members]
        elif is_array(item):
            stack += [(key, each, held) for each in item]
            if key in _ARGUMENTS:
                args |= _secret_args(item)


def _secret_args(items: Sequence[object]) -> dict[str, str]:
    texts = [each if isinstance(each, str) else "" for each in items]
    pairs = zip(texts, shown_args(texts), strict=True)
    return {text: masked for text, masked in pairs if text != masked}


def _is_literal(key: str, text: str, *, held: bool) -> bool:
    named = held or (names_secret(key) and not key.endswith(_OF_VARIABLES))
    return (named and is_secret(text)) or (key.lower().endswith("url") and _has_secret(text))


def _has_secret(url: str) -> bool:
    return shown_url(url) != url


def _value(path: str, text: str) -> object:
    with contextlib.suppress(ValueError):
        # Most files are plain JSON, and some are large.
        return json.loads(text.removeprefix("\ufeff"))
    try:
        return editor_for(path).parse(text, path).value
    except DocumentBroken:
        return {}


def _hide_pair(match: re.Match[str], secrets: MaskedSecrets) -> str:
    key, value = _plain(match["key"]).rpartition(".")[2], _plain(match["value"])
    if (key, value) not in secrets.pairs:
        return match.group()
    quote = match["value"][0]
    return f"{match['key']}{match['between']}{quote}{_mask(value)}{quote}"


def _hide_alone(match: re.Match[str], secrets: MaskedSecrets) -> str:
    value = _plain(match.group())
    quote = match.group()[0]
    if value in secrets.args:
        return f"{quote}{secrets.args[value]}{quote}"
    return f"{quote}{_mask(value)}{quote}" if value in secrets.long else match.group()


def _mask(value: str) -> str:
    return shown_url(value) if _has_secret(value) else MASKED


def _plain(quoted: str) -> str:
    if quoted.startswith("'"):
        return quoted[1:-1]
    if not quoted.startswith('"'):
        return quoted
    try:
        return str(json.loads(quoted))
    except ValueError:
        return quoted[1:-1]


def _difference(before: list[str], after: list[str], names: tuple[str, str]) -> list[str]:
    """The unified difference, looked for only between the first and the last line that differ."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    ends = range(1, shorter - start + 1)
    end = next((at - 1 for at in ends if before[-at] != after[-at]), shorter - start)
    first, last = max(0, start - _AROUND), max(0, end - _AROUND)
    window = before[first : len(before) - last], after[first : len(after) - last]
    return [_HUNK.sub(lambda at: _moved(at, first), each) for each in unified_diff(*window, *names)]


def _moved(at: re.Match[str], lines: int) -> str:
    """The head of a hunk, so many lines further down."""
    return f"@@ -{int(at[1]) + lines}{at[2]} +{int(at[3]) + lines}{at[4]} @@"


def _lines(text: str) -> list[str]:
    # Only what ends a line for every program: a separator of paragraphs may stand in a string.
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _ended(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
