"""Why a text is not JSON, in a sentence and with the offset: the slow second reading.

It keeps its own stack, so that no depth of nesting can exhaust Python's.
"""

import re
from typing import Final, NamedTuple

from msgspec import Struct

from mcpyard.formats.editors.patterns import COMMENT, NO_PROGRESS, NoProgress, advanced, repeated

MAX_DEPTH: Final = 100

_SKIP: Final = re.compile(rf"[ \t\r\n]++|{COMMENT}")
_ESCAPES: Final = repeated(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+')
_STRING: Final = re.compile(rf'"[^"\\\x00-\x1f]*+{_ESCAPES}')
_WORD: Final = re.compile(r'[^\s,:\[\]{}"/]*+')
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_LITERALS: Final = frozenset({"true", "false", "null"})
_NOT_NUMBERS: Final = frozenset({"NaN", "Infinity", "-Infinity"})
_SHOWN: Final = 40


class Fault(NamedTuple):
    """The offset of what is wrong, and the sentence about it."""

    offset: int
    sentence: str


def find_fault(text: str, *, comments: bool = True) -> Fault | None:
    """The first thing that keeps a text from being JSON (or JSONC, with comments allowed)."""
    try:
        _Reader(text, comments).read()
    except _FaultFound as found:
        return found.fault
    except NoProgress as error:
        return Fault(error.offset, NO_PROGRESS)
    return None


class _FaultFound(Exception):
    def __init__(self, offset: int, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = Fault(offset, sentence)


class _Frame(Struct):
    closer: str
    count: int = 0
    last: str = ""


class _Reader:
    def __init__(self, text: str, comments: bool) -> None:
        self.text = text
        self.comments = comments
        self.at = int(text.startswith("\ufeff"))
        self.stack: list[_Frame] = []

    def read(self) -> None:
        start = self.at
        self.skip()
        if self.at == len(self.text):
            raise _FaultFound(start, "the file is empty")
        self.value("at the start of the file")
        while self.stack:
            before = self.at
            self.step(self.stack[-1])
            advanced(before, self.at)
        self.skip()
        if self.at < len(self.text):
            raise _FaultFound(
                self.at, f"expected the end of the file, but found {self.what_follows()}"
            )

    def step(self, frame: _Frame) -> None:
        self.skip()
        if self.char() == frame.closer:
            self.close()
        elif frame.count == 0:
            self.entry(frame, "after the opening bracket")
        elif self.char() == ",":
            self.comma(frame)
        else:
            sentence = f"expected a comma or {frame.closer} after {frame.last}"
            raise _FaultFound(self.at, f"{sentence}, but {self.instead()}")

    def comma(self, frame: _Frame) -> None:
        comma = self.at
        self.at += 1
        self.skip()
        if self.char() != frame.closer:
            self.entry(frame, "after the comma")
        elif self.comments:
            self.close()
        else:
            raise _FaultFound(comma, f"a comma before {frame.closer} is not allowed in this file")

    def entry(self, frame: _Frame, where: str) -> None:
        frame.count += 1
        if frame.closer == "]":
            frame.last = f"element {frame.count}"
            self.value(where)
            return
        name = self.name(where)
        frame.last = f"the member {name}"
        self.skip()
        if self.char() != ":":
            sentence = f"expected a colon after the name {name}, but {self.instead()}"
            raise _FaultFound(self.at, sentence)
        self.at += 1
        self.skip()
        self.value(f"for the member {name}")

    def name(self, where: str) -> str:
        start = self.at
        if self.char() != '"':
            sentence = f"expected a name in double quotes {where}, but {self.instead()}"
            raise _FaultFound(start, sentence)
        self.string()
        return _short(self.text[start : self.at])

    def value(self, where: str) -> None:
        char = self.char()
        if char == '"':
            self.string()
        elif char and char in "{[":
            self.open("}" if char == "{" else "]")
        else:
            self.word(where)

    def open(self, closer: str) -> None:
        if len(self.stack) == MAX_DEPTH:
            raise _FaultFound(self.at, f"nested too deeply: more than {MAX_DEPTH} levels")
        self.stack.append(_Frame(closer))
        self.at += 1

    def close(self) -> None:
        self.stack.pop()
        self.at += 1

    def word(self, where: str) -> None:
        word = self.peek_word()
        if word in _LITERALS:
            self.at += len(word)
        elif number := _NUMBER.fullmatch(word):
            self.number(word, whole=number[1] is None and number[2] is None)
        elif word in _NOT_NUMBERS:
            raise _FaultFound(self.at, f"{word} is not a number that JSON knows")
        elif word.startswith("'"):
            raise _FaultFound(self.at, "a string must stand in double quotes")
        elif word:
            raise _FaultFound(self.at, f"{_short(word)} is not a JSON value")
        else:
            raise _FaultFound(self.at, f"expected a value {where}, but {self.instead()}")

    def number(self, word: str, *, whole: bool) -> None:
        try:
            _ = whole and int(word)
        except ValueError:
            raise _FaultFound(self.at, "the number has too many digits") from None
        self.at += len(word)

    def string(self) -> None:
        match = _STRING.match(self.text, self.at)
        stop = match.end() if match else self.at
        char, escape = self.text[stop : stop + 1], self.text[stop : stop + 2]
        if char == '"':
            self.at = stop + 1
        elif char == "\\" and len(escape) > 1 and escape.isprintable():
            raise _FaultFound(stop, f"{escape} is not an escape that JSON knows")
        elif char in {"", "\r", "\n", "\\"}:
            raise _FaultFound(self.at, "the string never ends")
        else:
            sentence = f"the control character U+{ord(char):04X} must be escaped in a string"
            raise _FaultFound(stop, sentence)

    def skip(self) -> None:
        while match := _SKIP.match(self.text, self.at):
            if not self.comments and match[0].startswith("/"):
                raise _FaultFound(self.at, "comments are not allowed in this file")
            self.at = advanced(self.at, match.end())
        if self.text.startswith("/*", self.at):
            raise _FaultFound(self.at, "the comment never ends")

    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def peek_word(self) -> str:
        match = _WORD.match(self.text, self.at)
        return match[0] if match else ""

    def instead(self) -> str:
        return f"found {self.what_follows()}" if self.char() else "the file ends"

    def what_follows(self) -> str:
        text = _short(self.peek_word() or self.char())
        return text if text.isprintable() else f"U+{ord(self.char()):04X}"


def _short(word: str) -> str:
    return word if len(word) <= _SHOWN else f"{word[:_SHOWN]}..."
