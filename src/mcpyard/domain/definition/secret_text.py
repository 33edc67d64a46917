"""What counts as a secret in a text, and the text without it.

This module decides it for arguments, URLs, log lines and messages, for the servers of mcpyard and
for the entries of other programs. A reference to a variable is no secret. Every pattern is linear
in the text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from urllib.parse import unquote

from mcpyard.domain.definition.named_secrets import (
    header_secrets,
    may_name_secrets,
    named_secrets,
    option_secrets,
)
from mcpyard.domain.definition.secret_names import (
    ANY_REFERENCE,
    holds_secret,
    is_literal,
    looks_secret,
    names_secret,
)
from mcpyard.domain.definition.secret_shapes import PRIVATE_KEY, without_keys

MASKED: Final = "***"

# Only from the beginning of a word: to try each letter of a long one would take its square.
_URL: Final = re.compile(r"""(?<!\w)\w++://[^\s"'<>]++""")
_BEARER: Final = re.compile(r"(?i)\b(?P<head>(?:bearer|basic)\s{1,4})(?P<value>[\w.~+/=-]{6,}+)")

_BEFORE_VALUE: Final = re.compile(r"://[^/@:?#]*+:|[?&#][^=&#]*+=?")
"""What stands before a password, or before a value of a query.

A name without a value is matched too, so that none of its characters is looked at again.
"""
_QUERY_NAME: Final = re.compile(r"(?i)token|key|secret|passw|signature")
_END_OF_VALUE: Final = re.compile(r"[@&#]")
_REST_OF_PASSWORD: Final = re.compile(r"(?:@[^@/?#\s]*+)*(?=@)")
_USER: Final = re.compile(r"(?<=://)[\w.~%=+-]{16,}+(?=@)")
_SEGMENT: Final = re.compile(r"(?<=[^/:]/)[\w.~%=+:-]{16,}+(?=[/?#]|$)")
_QUERY_VALUE: Final = re.compile(r"[\w.~%+:-]{16,}+")
_UUID: Final = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_RUN: Final = re.compile(r"[A-Za-z0-9]{16,}+")
_LONG_MIXED: Final = 24

_ENVIRONMENT_OPTIONS: Final = frozenset({"-e", "--env"})
_HEADER_OPTIONS: Final = frozenset({"-H", "--header"})
_USER_OPTIONS: Final = frozenset({"-u", "--user"})
_ASSIGNMENT: Final = re.compile(r"(?s)(?P<name>[A-Za-z_][\w.-]*+)=(?P<value>.+)")
_OPTION: Final = re.compile(r"(?s)(?P<name>(?:--?|/)[A-Za-z_][\w.-]*+)[=:](?P<value>.+)")
_USER_AND_PASSWORD: Final = re.compile(r"(?s)(?P<name>[^:/\s]*+):(?P<value>(?!//|\d++$).+)")
_HEADER: Final = re.compile(r"(?s)(?P<name>[\w-]++)\s{0,4}:\s{0,4}(?P<value>.+)")


def shown_url(url: str) -> str:
    """A URL as it may be shown: without passwords, and without tokens in its path or query."""
    return _Masking().url(url)


def shown_text(text: str) -> str:
    """A text as it may be shown: URLs, named values and well-known keys without their secrets."""
    return _Masking().text(text)


def shown_args(args: Sequence[str]) -> list[str]:
    """The arguments of a command as they may be shown."""
    return _Masking().args(args)


def secrets_in_args(args: Sequence[str]) -> list[str]:
    """The secrets that `shown_args` masks."""
    masking = _Masking()
    masking.args(args)
    return masking.secrets


def secrets_in_url(url: str) -> list[str]:
    """The secrets that `shown_url` masks."""
    masking = _Masking()
    masking.url(url)
    return masking.secrets


class StillMasked(Exception):
    """An argument came back masked, and no stored one was shown like that.

    Attributes:
        index: Its place.
    """

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.index = index


def unmasked_args(args: Sequence[str], stored: Sequence[str]) -> list[str]:
    """Arguments with the stored values in place of those that came back as they were shown.

    An argument is recognized by how it was shown and by the argument before it, so that others can
    be added and removed around it.

    Raises:
        StillMasked: No stored argument was shown like that.
    """
    texts = shown_args(stored)
    by_place: dict[tuple[str, str], list[str]] = {}
    by_text: dict[str, list[str]] = {}
    for index, value in enumerate(stored):
        if texts[index] != value:
            before = texts[index - 1] if index else ""
            by_place.setdefault((before, texts[index]), []).append(value)
            by_text.setdefault(texts[index], []).append(value)
    literals, unmasked = {*stored}, list[str]()
    for index, arg in enumerate(args):
        placed = by_place.get((args[index - 1] if index else "", arg))
        if placed or (MASKED in arg and arg not in literals):
            unmasked.append(_stored(arg, placed, by_text, index))
        else:
            unmasked.append(arg)
    return unmasked


def _stored(
    arg: str, placed: list[str] | None, by_text: Mapping[str, list[str]], index: int
) -> str:
    if placed:
        return placed.pop(0)
    candidates = by_text.get(arg, [])
    if len(candidates) != 1:
        raise StillMasked(index)
    return candidates[0]


def _is_random(word: str) -> bool:
    """Whether a part of a URL looks like a key: nobody chooses such a word."""
    if _UUID.fullmatch(word):
        return True
    if any(_has_digit_and_letter(run) for run in _RUN.findall(word)):
        return True
    long_mixed = len(word) >= _LONG_MIXED and word != word.lower() and word != word.upper()
    return long_mixed and _has_digit_and_letter(word)


def _is_secret_part(before: str, url: str, begin: int, end: int) -> bool:
    """Whether a part of a URL is a secret, by what stands before and after it, or by its look."""
    if before.startswith(":"):
        return url[end : end + 1] == "@"
    name = unquote(before[1:-1])
    if _QUERY_NAME.search(name) or holds_secret(name):
        return True
    word = _QUERY_VALUE.match(url, begin, end)
    return word is not None and _is_random(word.group())


def _has_digit_and_letter(word: str) -> bool:
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


class _Masking:
    """Masks secrets, and collects them.

    Attributes:
        secrets: What was masked.
    """

    def __init__(self) -> None:
        self.secrets: list[str] = []

    def hide(self, value: str) -> str:
        if value != MASKED:
            self.secrets.append(value)
        return MASKED

    def args(self, args: Sequence[str]) -> list[str]:
        return [self._arg(arg, args[at - 1] if at else "") for at, arg in enumerate(args)]

    def text(self, text: str) -> str:
        if "://" in text:
            text = _URL.sub(lambda match: self.url(match.group()), text)
        lowered = text.lower()
        if "bearer" in lowered or "basic" in lowered:
            text = _BEARER.sub(self._value, text)
        if may_name_secrets(text):
            # To compile its patterns takes a millisecond, which the start of a yard does not need.
            from mcpyard.domain.definition.secrets_in_files import file_secrets  # noqa: PLC0415

            text = PRIVATE_KEY.sub(self._whole, text)
            # An attribute that names a secret is masked itself afterwards, as `key="..."`.
            for secrets_in in (file_secrets, header_secrets, named_secrets, option_secrets):
                text = self._parts(text, [*secrets_in(text)])
        return without_keys(text, self._whole)

    def url(self, url: str) -> str:
        """A URL without its password, the secrets of its query and the tokens in its path."""
        parts, at, searched = list[str](), 0, 0
        end = reference = -1
        while match := _BEFORE_VALUE.search(url, searched):
            searched = match.end()
            if end < searched:
                stop = _END_OF_VALUE.search(url, searched)
                end = stop.start() if stop else len(url)
                reference = url.rfind("${", searched, end)
            if reference < searched < end and _is_secret_part(match[0], url, searched, end):
                if match[0].startswith(":"):
                    rest = _REST_OF_PASSWORD.match(url, end)
                    end = rest.end() if rest else end
                parts += (url[at:searched], self.hide(url[searched:end]))
                at = searched = end
        rest = "".join((*parts, url[at:]))
        rest = _USER.sub(self._if_random, _SEGMENT.sub(self._if_random, rest))
        return without_keys(rest, self._whole)

    def _arg(self, arg: str, before: str) -> str:
        if match := _pair(arg, before):
            # What follows a user may be a group, a word that logs contain.
            password = match.re is _USER_AND_PASSWORD and not match["value"].isalpha()
            masked = self._hide_pair(match["name"], match["value"], certain=password)
            return arg[: match.start("value")] + masked
        # A token may begin with a dash, where an option would not look like one.
        is_option = arg.startswith("-") and (arg.startswith("--") or not looks_secret(arg))
        if before.startswith("-") and "=" not in before and not is_option:
            named = holds_secret(before) and is_literal(arg, ANY_REFERENCE)
            return self.hide(arg) if named and arg else self.text(arg)
        return self.text(arg)

    def _hide_pair(self, name: str, value: str, *, certain: bool) -> str:
        # Of any other variable or header, the value may be a common word, which logs contain.
        if not (certain or names_secret(name) or holds_secret(name) or looks_secret(value)):
            return MASKED
        _, *words = value.split()
        self.secrets += words
        return self.hide(value)

    def _whole(self, match: re.Match[str]) -> str:
        return self.hide(match.group())

    def _value(self, match: re.Match[str]) -> str:
        return match["head"] + self.hide(match["value"])

    def _if_random(self, match: re.Match[str]) -> str:
        return self.hide(match.group()) if _is_random(match.group()) else match.group()

    def _parts(self, text: str, spans: Iterable[tuple[int, int]]) -> str:
        parts, at = list[str](), 0
        for begin, end in sorted(spans):
            if begin >= at:
                parts += (text[at:begin], self.hide(text[begin:end]))
                at = end
        return "".join((*parts, text[at:]))


def _pair(arg: str, before: str) -> re.Match[str] | None:
    """The name and the literal value of an argument that is a secret by its name."""
    option, _, rest = arg.partition("=")
    if option in _ENVIRONMENT_OPTIONS | _HEADER_OPTIONS | _USER_OPTIONS and rest:
        return _pair_at(arg, len(option) + 1, option)
    for letter in ("-e", "-H"):
        if arg.startswith(letter) and not arg.startswith(f"{letter}="):
            return _pair_at(arg, 2, letter)
    return _pair_at(arg, 0, before)


def _pair_at(arg: str, begin: int, option: str) -> re.Match[str] | None:
    if option in _HEADER_OPTIONS:
        match, by_place = _HEADER.fullmatch(arg, begin), True
    elif option in _USER_OPTIONS:
        match = _USER_AND_PASSWORD.fullmatch(arg, begin)
        # A user and a group, as containers have them, often bear one name.
        by_place = match is not None and match["name"] != match["value"]
    else:
        match = _ASSIGNMENT.fullmatch(arg, begin) or _OPTION.fullmatch(arg, begin)
        # Any variable may be a secret, as in `env`; lower-case names are mostly code.
        by_place = option in _ENVIRONMENT_OPTIONS and _is_variable(match)
    if match is None or not is_literal(match["value"], ANY_REFERENCE):
        return None
    return match if by_place or holds_secret(match["name"]) else None


def _is_variable(match: re.Match[str] | None) -> bool:
    return match is not None and match["name"] == match["name"].upper()


def hide(text: str, secrets: Iterable[str]) -> str:
    """A text with every secret masked."""
    for each in longest_first(secrets):
        text = text.replace(each, MASKED)
    return text


def longest_first(secrets: Iterable[str]) -> tuple[str, ...]:
    """Secrets in the order to mask them: of one that is a part of another, the rest would stay."""
    return tuple(sorted(secrets, key=len, reverse=True))
