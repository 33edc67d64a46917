"""What counts as a secret in a text, and the text without it.

This module decides it for arguments, URLs, log lines and messages, for the servers of mcpyard and
for the entries of other programs. A reference to a variable is no secret. Every pattern is linear
in the text.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

MASKED: Final = "***"

REFERENCE: Final = re.compile(r"\$\{[^}]*+\}?")
"""A reference in a definition of the yard.

One that is never closed is matched too, so that none of its characters is looked at again.
"""

ANY_REFERENCE: Final = re.compile(
    r"\$\{[^}]*+\}?|\{(?:env|file):[^}]*+\}?|\$[A-Z_][A-Z0-9_]*(?![A-Za-z0-9])"
)
"""A reference in any client's way of writing one."""

_SHOWN_AROUND: Final = 16
"""Characters around references that are shown."""

_SECRET_NAME: Final = re.compile(
    r"token|key|secret|passw|credential|authorization|cookie", re.IGNORECASE
)
_HOLDS_SECRET: Final = re.compile(
    r"(?i)token(?!s|iz)|secret|passw|passphrase|pwd|credential|cookie|authorization|signature"
    r"|(?:api|access|private|account)[-_]?key|(?:^|[-_.])(?:key|auth|pass|pat|jwt|sig)(?:$|[-_.])"
)
_HOLDS_NONE: Final = re.compile(
    r"(?i)(?:file|path|dir|folder|name|[-_.]id|url|uri|env|var|type|ttl|length|size|limit|prefix"
    r"|column|field|format|algorithm|bits|mode|method|scheme|provider|server|host|port|endpoint"
    r"|realm|domain|expiry|timeout|count|version|strategy|policy|through|[-_.]jar"
    # The keys of tables, caches and sorted lists, and the half of a pair that everybody may know.
    r"|(?:sort|order|group|index|primary|foreign|unique|composite|partition|shard|range|hash|row"
    r"|routing|cache|lookup|map|object|json|public|hot)[-_.]?key)$"
    r"|^-{0,2}(?:no|skip|disable|enable|allow|require|max|min)[-_.]"
)
"""Names of settings that only tell something about a secret, or of keys that open nothing."""

_LOOKS_SECRET: Final = re.compile(r"(?=\S*\d)(?=\S*[A-Za-z])[^\s/\\:]{16,}")

_SHAPES: Final = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      sk-[\w-]{12,}+ | [rs]k_(?:live|test)_\w{8,}+ | whsec_\w{8,}+
    | gh[opsur]_[A-Za-z0-9]{12,}+ | github_pat_\w{12,}+ | gl(?:pat|ptt|dt)-[\w-]{12,}+
    | xox[a-z]-[\w-]{8,}+ | xapp-[\w-]{8,}+ | A(?:KIA|SIA)[0-9A-Z]{12,}+
    | AIza[\w-]{20,}+ | ya29\.[\w.-]{12,}+ | hf_[A-Za-z0-9]{12,}+ | npm_[A-Za-z0-9]{20,}+
    | pypi-[\w-]{20,}+ | dop_v1_[0-9a-f]{20,}+ | shp(?:at|ss|ca)_\w{12,}+ | sbp_\w{20,}+
    | SG\.[\w-]{12,}+\.[\w-]{12,}+ | (?:gsk|ntn|figd|lin_api|secret)_\w{20,}+
    | (?:pplx|tvly|fc)-[\w-]{20,}+
    | eyJ[\w-]{6,}+\.[\w-]{6,}+\.[\w-]{4,}+
    )""",
    re.VERBOSE,
)
"""Keys of well-known services, and JSON web tokens."""

_MARKS_OF_SHAPES: Final = (
    *("sk-", "k_live_", "k_test_", "whsec_", "gh", "gl", "xox", "xapp-", "AKIA", "ASIA", "AIza"),
    *("ya29.", "hf_", "npm_", "pypi-", "dop_v1_", "shp", "sbp_", "SG.", "gsk_", "ntn_", "figd_"),
    *("lin_api_", "secret_", "pplx-", "tvly-", "fc-", "eyJ"),
)
_MARKS_OF_NAMES: Final = (
    *("token", "secret", "pass", "pwd", "cred", "cookie", "auth", "sig", "key", "pat", "jwt"),
)
"""Of these, one is in every text that the patterns match: to look for them costs much less."""

_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*+(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)
# Only from the beginning of a word: to try each letter of a long one would take its square.
_URL: Final = re.compile(r"""(?<!\w)\w++://[^\s"'<>]++""")
_BEARER: Final = re.compile(r"(?i)\b(?P<head>(?:bearer|basic)\s{1,4})(?P<value>[\w.~+/=-]{6,}+)")
_NAME_OF_VALUE: Final = re.compile(
    r"""(?<![\w.-])(?P<name>-{0,2}[A-Za-z_][\w.-]{0,80}+)
    (?:(?P<equals>["']?=["']?)|["']?\s?:\s?(?P<quote>["']?))""",
    re.VERBOSE,
)
_NAMED_VALUE: Final = re.compile(r"""[^\s"',;&]++""")
_DECIDES: Final = 64
"""Characters of a value that tell whether it is one."""
_OPTION_AND_VALUE: Final = re.compile(
    r"(?<![\w.-])(?P<head>(?P<name>--[A-Za-z][\w.-]{0,80}+)\s)(?P<value>[^\s-]\S*+)"
)
_LEAST_UNQUOTED: Final = 6
"""Characters after a colon; what is shorter, or has no digit, is a word such as `expired`."""

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
_ASSIGNMENT: Final = re.compile(r"(?s)(?P<name>[A-Za-z_][\w.-]*+)=(?P<value>.+)")
_OPTION: Final = re.compile(r"(?s)(?P<name>--?[A-Za-z_][\w.-]*+)=(?P<value>.+)")
_HEADER: Final = re.compile(r"(?s)(?P<name>[\w-]++)\s{0,4}:\s{0,4}(?P<value>.+)")


def names_secret(name: str) -> bool:
    """Whether a variable, a header or a field of that name usually holds a secret."""
    return _SECRET_NAME.search(name) is not None


def holds_secret(name: str) -> bool:
    """Whether an option or a setting of that name holds a secret; stricter than `names_secret`."""
    return _HOLDS_SECRET.search(name) is not None and _HOLDS_NONE.search(name) is None


def looks_secret(value: str) -> bool:
    """Whether a value is a long word of letters and digits that is neither a path nor a URL."""
    return _LOOKS_SECRET.fullmatch(value) is not None


def is_literal(value: str, reference: re.Pattern[str] = REFERENCE) -> bool:
    """Whether a value is more than references and a word or two around them."""
    around = reference.sub(_unless_open, value)
    return around == value or len(around) > _SHOWN_AROUND


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


def _unless_open(reference: re.Match[str]) -> str:
    text = reference.group()
    return "" if "{" not in text or text.endswith("}") else text


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
    name = before[1:-1]
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
        if any(mark in lowered for mark in _MARKS_OF_NAMES):
            text = self._named(_PRIVATE_KEY.sub(self._whole, text))
            text = _OPTION_AND_VALUE.sub(self._option_value, text)
        return self._shapes(text)

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
        return self._shapes(_USER.sub(self._if_random, _SEGMENT.sub(self._if_random, rest)))

    def _shapes(self, text: str) -> str:
        marked = any(mark in text for mark in _MARKS_OF_SHAPES)
        return _SHAPES.sub(self._whole, text) if marked else text

    def _arg(self, arg: str, before: str) -> str:
        if match := _pair(arg, before):
            return arg[: match.start("value")] + self._hide_pair(match["name"], match["value"])
        if before.startswith("-") and "=" not in before and not arg.startswith("-"):
            named = holds_secret(before) and is_literal(arg, ANY_REFERENCE)
            return self.hide(arg) if named and arg else self.text(arg)
        return self.text(arg)

    def _hide_pair(self, name: str, value: str) -> str:
        # Of any other variable or header, the value may be a common word, which logs contain.
        if not (names_secret(name) or holds_secret(name) or looks_secret(value)):
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

    def _named(self, text: str) -> str:
        parts, at, searched = list[str](), 0, 0
        while match := _NAME_OF_VALUE.search(text, searched):
            searched = match.end()
            # To look at all of a long value behind each of many names would take its square.
            begin = _NAMED_VALUE.match(text, searched, searched + _DECIDES)
            if begin and holds_secret(match["name"]) and _is_named_secret(match, begin.group()):
                whole = _NAMED_VALUE.match(text, searched)
                end = whole.end() if whole else begin.end()
                parts += (text[at:searched], self.hide(text[searched:end]))
                at = searched = end
        return "".join((*parts, text[at:]))

    def _option_value(self, match: re.Match[str]) -> str:
        secret = holds_secret(match["name"]) and is_literal(match["value"], ANY_REFERENCE)
        return match["head"] + self.hide(match["value"]) if secret else match.group()


def _is_named_secret(name: re.Match[str], value: str) -> bool:
    if not is_literal(value, ANY_REFERENCE):
        return False
    quoted = name["equals"] or name["quote"]
    return bool(quoted) or (len(value) >= _LEAST_UNQUOTED and any(map(str.isdigit, value)))


def _pair(arg: str, before: str) -> re.Match[str] | None:
    """The name and the literal value of an argument that is a secret by its name."""
    option, _, rest = arg.partition("=")
    if option in _ENVIRONMENT_OPTIONS | _HEADER_OPTIONS and rest:
        return _pair_at(arg, len(option) + 1, option)
    if arg.startswith("-e") and not arg.startswith("-e="):
        return _pair_at(arg, 2, "-e")
    return _pair_at(arg, 0, before)


def _pair_at(arg: str, begin: int, option: str) -> re.Match[str] | None:
    if option in _HEADER_OPTIONS:
        match, by_place = _HEADER.fullmatch(arg, begin), True
    else:
        match = _ASSIGNMENT.fullmatch(arg, begin) or _OPTION.fullmatch(arg, begin)
        # Any variable may be a secret, as in `env`; lower-case names are mostly code.
        by_place = option in _ENVIRONMENT_OPTIONS and _is_variable(match)
    if match is None or not is_literal(match["value"], ANY_REFERENCE):
        return None
    return match if by_place or holds_secret(match["name"]) else None


def _is_variable(match: re.Match[str] | None) -> bool:
    return match is not None and match["name"] == match["name"].upper()
