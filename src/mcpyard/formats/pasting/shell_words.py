"""Commands as a shell reads them: quotes, continued lines, comments, `&&` and `;`.

Nothing is run. A `$NAME` that a shell would replace becomes the reference `${NAME}`, which mcpyard
replaces when it starts the server; the caller learns of each, because its value is then read from
another environment.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcpyard.formats.editors.patterns import advanced

_PROMPTS: Final = frozenset({"$", "%", ">"})
_SHELL_ONLY: Final = frozenset({"|", "&", "<", ">", ">>"})

_TOKEN: Final = re.compile(
    r"""
      (?P<continued>\\[ \t\r]*(?:\n[ \t]*(?:>[ ])?|\Z))
    | (?P<end>\n|;|&&|\|\|)
    | (?P<space>[^\S\n]+)
    | \\(?P<escaped>.)
    | '(?P<single>[^']*)'
    | "(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"
    | (?P<run>\$\(|`)
    | \$(?P<variable>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<open>["'])
    | (?P<plain>[^\s\\'"`$;&|]+|.)
    """,
    re.DOTALL | re.VERBOSE,
)
_IN_DOUBLE: Final = re.compile(
    r"\\(?:\n|(?P<escaped>[$`\"\\]))|(?P<run>\$\(|`)|\$(?P<variable>[A-Za-z_][A-Za-z0-9_]*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One command: its line from 1 on, and its words without their quotes.

    A shell would replace the variables; a fault tells why the words cannot be trusted.
    """

    line: int
    words: tuple[str, ...]
    variables: tuple[str, ...]
    fault: str


def shell_commands(text: str) -> Iterator[ShellCommand]:
    """The commands of a text, in order; prompts and comments are left out."""
    position, line = 0, 1
    while position < len(text):
        command = _Command(line)
        position = advanced(position, command.read(text, position))
        line += command.newlines
        if command.words or command.fault:
            yield ShellCommand(
                command.line, tuple(command.words), tuple(command.variables), command.fault
            )


class _Command:
    """A command while its characters come in."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.newlines = 0
        self.words: list[str] = []
        self.variables: dict[str, None] = {}
        self.fault = ""
        self._word: list[str] | None = None
        self._quoted = False

    def read(self, text: str, position: int) -> int:
        """Read up to the end of the command, and return where the next one begins."""
        while token := _TOKEN.match(text, position):
            kind, value = str(token.lastgroup), token[str(token.lastgroup)]
            if kind == "plain" and value.startswith("#") and self._word is None:
                position = _end_of_line(text, position)
                continue
            self.newlines += token[0].count("\n")
            position = token.end()
            if kind == "end":
                break
            if kind == "open":
                self._blame(f"has a {value} that is never closed")
                # A stray apostrophe must not cost the lines that follow it.
                position = _end_of_line(text, position)
                continue
            self._take(kind, value)
        self._end_word()
        return position

    def _take(self, kind: str, value: str) -> None:
        if kind in {"space", "continued"}:
            self._end_word()
        elif kind == "run":
            self._blame(f"has a {value}, which only a shell can run; write its result instead")
        elif kind == "variable":
            self._add(self._reference(value))
        elif kind == "double":
            self._add(_IN_DOUBLE.sub(self._in_double, value), quoted=True)
        else:
            self._add(value, quoted=kind != "plain")

    def _in_double(self, token: re.Match[str]) -> str:
        if token["run"]:
            self._take("run", token["run"])
        if name := token["variable"]:
            return self._reference(name)
        return token["escaped"] or ""

    def _reference(self, name: str) -> str:
        self.variables[name] = None
        return f"${{{name}}}"

    def _add(self, text: str, *, quoted: bool = False) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)
        self._quoted = self._quoted or quoted

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, quoted = "".join(self._word), self._quoted
        self._word, self._quoted = None, False
        if not self.words and not quoted and word in _PROMPTS:
            return
        if not quoted and word in _SHELL_ONLY:
            self._blame(f'has a "{word}", which only a shell understands')
        self.words.append(word)

    def _blame(self, fault: str) -> None:
        self.fault = self.fault or fault


def _end_of_line(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
