"""YAML as people could have written it: any style, comments and blank lines anywhere."""

import random
from collections.abc import Callable
from typing import Any, TypeAlias

from hypothesis import strategies as st

Value: TypeAlias = Any

NAMES = ("a", "b", "c-1", "d e", "é", 'q"', "it's", "x.y", "#", "yes", "1", "null", "😀", "k: v")
SCALARS = (
    0,
    -1,
    1.0,
    -0.0,
    1e22,
    2.5e-07,
    True,
    False,
    None,
    "",
    "x",
    "a b",
    "# no",
    "yes",
    "on",
    "n",
    "null",
    "~",
    "1",
    "0x1F",
    "0o7",
    "010",
    "1_000",
    "1:30",
    "2020-01-02",
    "1e3",
    ".5",
    ".inf",
    "=",
    "<<",
    "-",
    "- x",
    "? x",
    "a: b",
    "a #b",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "{a",
    "[a",
    "]",
    "}",
    ",",
    "|",
    ">",
    "'",
    '"',
    "\\",
    "\n",
    "a\nb\n",
    " lead",
    "trail ",
    "\t",
    "\x00\x07\x7f\x85\u2028\ufeff",
    "é😀",
    "https://example.org/mcp?a=b",
    "${TOKEN}",
    "-y",
    "--flag=x",
    "@scope/pkg",
    "~/x",
    "/usr/bin",
    "C:\\x",
)
COMMENTS = ("# note", "#", "# - a: {", "#'", '# "x')
SPELT = {
    "word": ("x", "npx", "yes", "on", "~", "null", "true", "False"),
    "plain": ("a b", "a-b", "x#y", "http://x/y", "-y", "é", "2020-01-02"),
    "single": ("''", "'x'", "'it''s'", "'# no: yes'", "'{'"),
    "double": ('""', '"x"', '"\\u00e9\\n"', '"# \\" ]"', '"a: b"'),
    "number": ("0", "-1", "1.50", "0x1F", "010", "1_000", "1:30", ".5", ".inf"),
    "empty": ("",),
}


class Writer:
    """Writes values in a random style, and remembers the anchors it gave."""

    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd
        self.step = rnd.choice([2, 2, 3, 4])
        self.dash = rnd.choice([0, 2, self.step])
        self.anchors: list[str] = []
        self.plenty = rnd.random() < 0.5

    def chance(self, share: float) -> bool:
        return self.rnd.random() < share

    def noise(self, indent: int) -> list[str]:
        if not self.plenty or not self.chance(0.25):
            return []
        pad = " " * self.rnd.choice([indent, indent, indent + 2, max(indent - 2, 0)])
        return [self.rnd.choice(["", "", "   ", pad + self.rnd.choice(COMMENTS)])]

    def tail(self) -> str:
        return self.rnd.choice(["", "", "", " ", "  # tail", " #"]) if self.plenty else ""

    def properties(self) -> str:
        if not self.plenty or not self.chance(0.12):
            return ""
        name = f"n{len(self.anchors)}"
        return (
            self.rnd.choice([f"&{name} ", "!!map ", "!own "]) if self.chance(0.3) else f"&{name} "
        )

    def scalar(self, *, flow: bool = False) -> str:
        kinds = ["word", "plain", "single", "double", "number", "empty"]
        kind = self.rnd.choice(kinds if not flow else kinds[:-1])
        if self.anchors and self.plenty and self.chance(0.15):
            return "*" + self.rnd.choice(self.anchors) + (" " if flow else "")
        return self.rnd.choice(SPELT[kind])

    def flow(self, depth: int) -> str:
        if depth <= 0 or self.chance(0.5):
            return self.scalar(flow=True)
        space = self.rnd.choice(["", " "])
        comma = self.rnd.choice([", ", ", ", ","]) if self.chance(0.9) else " , "
        names = self.rnd.sample(["a", "b", "c", '"d"', "'e f'"], self.rnd.randint(0, 3))
        if self.chance(0.5):
            pairs = [f"{name}: {self.flow(depth - 1)}" for name in names]
            if names and self.chance(0.1):
                pairs[-1] = names[-1]
            body, marks = pairs, "{}"
        else:
            body, marks = [self.flow(depth - 1) for _ in names], "[]"
        last = comma.strip(" ") if body and self.chance(0.15) else ""
        return marks[0] + space + comma.join(body) + last + space + marks[1]

    def flow_lines(self, indent: int, depth: int) -> str:
        """A map or a list in braces or brackets over several lines."""
        pad = " " * (indent + self.step)
        names = self.rnd.sample(["a", "b", '"c"', "d"], self.rnd.randint(1, 3))
        lines: list[str] = []
        keyed = self.chance(0.5)
        for number, name in enumerate(names):
            value = self.flow(depth - 1)
            last = number == len(names) - 1
            comma = "," if not last or self.chance(0.4) else ""
            note = self.rnd.choice(["", "", " # note"])
            lines.append(pad + (f"{name}: {value}" if keyed else value) + comma + note)
            if self.chance(0.15):
                lines.append(pad + "# own line")
        opening, closing = "{}" if keyed else "[]"
        if self.chance(0.2):
            opening = f"{opening} {lines.pop(0).lstrip(' ')}"
        if lines and "#" not in lines[-1] and self.chance(0.3):
            return "\n".join([opening, *lines]) + closing
        return "\n".join([opening, *lines, " " * (indent + 1) + closing])

    def literal(self, indent: int) -> list[str]:
        head = self.rnd.choice(["|", ">", "|-", ">-", "|+", ">+"])
        body = self.rnd.choice(
            [["x"], ["x", "y"], ["# no comment", "", "a: b"], ["x", ""], ["x", "", ""]]
        )
        pad = " " * (indent + self.step)
        return [
            head + self.rnd.choice(["", " # head"]),
            *(pad + line if line else "" for line in body),
        ]

    def node(self, indent: int, depth: int, *, inside: bool = False) -> list[str]:
        """The text behind a colon or a dash, and the lines below it."""
        roll = self.rnd.random()
        if depth <= 0 or roll < 0.35:
            scalar = self.scalar()
            named = self.properties() if scalar and scalar[0] != "*" else ""
            return [self._done(named, named + scalar) + self.tail()]
        if roll < 0.45:
            return self.literal(indent)
        if roll < 0.6:
            named = self.properties()
            if self.chance(0.3) and self.plenty:
                return (self._done(named, named + self.flow_lines(indent, depth))).split("\n")
            return [self._done(named, named + self.flow(depth)) + self.tail()]
        named = self.properties()
        head = named.rstrip() + self.tail()
        if roll < 0.8:
            body = self.block_map(indent + self.step, depth - 1)
        else:
            dash = indent + (2 if inside else self.dash)
            body = self.block_list(dash, depth - 1)
        return [self._done(named, head), *body]

    def _done(self, named: str, text: str) -> str:
        """An anchor can be referred to only from behind its node."""
        if named.startswith("&"):
            self.anchors.append(named[1:].strip())
        return text

    def block_map(self, indent: int, depth: int) -> list[str]:
        names = self.rnd.sample(
            ["a", "b", "c-1", "'d e'", '"é"', "x.y", '"#"', "yes", "1"], self.rnd.randint(1, 3)
        )
        lines: list[str] = []
        blank = self.plenty and self.chance(0.3)
        for number, name in enumerate(names):
            lines += [""] if blank and number else self.noise(indent)
            first, *rest = self.node(indent, depth)
            lines += [" " * indent + f"{name}: {first}".rstrip(" "), *rest]
        return lines + self.noise(indent)

    def block_list(self, indent: int, depth: int) -> list[str]:
        lines: list[str] = []
        pad = " " * indent
        for _ in range(self.rnd.randint(1, 3)):
            lines += self.noise(indent)
            if depth > 0 and self.chance(0.4):
                body = self.block_map(indent + 2, depth - 1)
                while body and not body[0].strip(" ").strip("#"):
                    body = body[1:]
                if body and not body[0].lstrip().startswith("#"):
                    lines += [pad + "- " + body[0][indent + 2 :], *body[1:]]
                    continue
            first, *rest = self.node(indent, depth - 1, inside=True)
            lines += [f"{pad}- {first}".rstrip(" "), *rest]
        return lines


def text_of(rnd: random.Random) -> str:
    writer = Writer(rnd)
    lines = (
        writer.block_map(0, 3) if rnd.random() < 0.95 else ["{" + "a: 1" * rnd.randint(0, 1) + "}"]
    )
    if writer.plenty and rnd.random() < 0.2:
        lines = [rnd.choice(["---", "--- # first", "%YAML 1.1\n---"]), *lines]
        if rnd.random() < 0.5:
            lines += ["---", "second: 1", "..."]
    if rnd.random() < 0.3:
        lines = ["# head", *lines]
        if lines[1].startswith("%"):
            lines = lines[1:]
    text = "\n".join(lines) + "\n" * (rnd.random() < 0.8)
    newline = rnd.choice(["\n", "\n", "\n", "\r\n"])
    return rnd.choice(["", "", "", "\ufeff"]) + text.replace("\n", newline)


def documents(readable: Callable[[str], bool]) -> st.SearchStrategy[str]:
    """Texts that can be read; the few others are left out."""
    return st.randoms(use_true_random=False, note_method_calls=False).map(text_of).filter(readable)


VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
