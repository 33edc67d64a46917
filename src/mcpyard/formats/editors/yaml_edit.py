"""The changes that an edit makes to a YAML text: pieces of it, each with what takes its place.

All pieces refer to the text before the edit. The functions here trust their arguments; whether the
text that comes out is right is for the guard to say.
"""

import re
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from mcpyard.formats.editors.jsonc_scan import Json, Path
from mcpyard.formats.editors.jsonc_values import refuse
from mcpyard.formats.editors.yaml_document import YamlDocument
from mcpyard.formats.editors.yaml_flow import Splice, flow_span, put_in, take_from
from mcpyard.formats.editors.yaml_lines import (
    BREAK,
    Block,
    blocks,
    column,
    head_end,
    line_end,
    line_start,
    mark,
    newline_of,
    past_blank,
    past_space,
)
from mcpyard.formats.editors.yaml_nodes import YamlNode, content_indent
from mcpyard.formats.editors.yaml_style import (
    YamlStyle,
    element_lines,
    flow_of,
    inline,
    member_lines,
    scalar_of,
    value_lines,
)
from mcpyard.formats.editors.yaml_values import same

_COMMENT_BELOW: Final = re.compile(r"(?:\r\n|\n|\r)( *+)(?=#)")
_KEPT: Final = re.compile(r"[|>][0-9]?\+")
_STRIPPED: Final = re.compile(r"[|>][0-9]?-")
_BLANK_LINE: Final = re.compile(r"(?>\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")


def spliced(text: str, splices: list[Splice]) -> str:
    """The text with pieces of it replaced."""
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(splices, key=lambda it: (it[0], it[1])):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


@dataclass(frozen=True, slots=True)
class YamlChange:
    """One edit of a document, made piece by piece."""

    document: YamlDocument
    style: YamlStyle

    @property
    def _text(self) -> str:
        return self.document.text

    def change(self, container: YamlNode, index: int, new: Json, path: Path) -> list[Splice]:
        """Give an item of a map or a list another value, as little of it as differs."""
        node = container.values[index]
        old = self.document.reading.value(node)
        if same(old, new):
            return []
        stays = not node.tag and (not node.flow or self._text.startswith(("{", "["), node.inner))
        if stays and node.kind == "map" and isinstance(old, dict) and isinstance(new, dict):
            names = self.document.reading.names(node)
            if any(name in new for name in names):
                return self._change_members(node, old, new, path)
        stays = stays and bool(old and new)
        if stays and node.kind == "list" and isinstance(old, list) and isinstance(new, list):
            return self._change_elements(node, old, new, path)
        return self.replace_value(container, index, new, path)

    def add(self, container: YamlNode, members: dict[str, Json], path: Path) -> list[Splice]:
        """Put new members at the end of a map."""
        if container.flow:
            items = self._flow_members(container, members, path)
            return put_in(self._text, container, len(container.values), items)
        own = blocks(self._text, container)
        lines: list[list[str]] = [
            member_lines(name, item, own[0].column, self._inner_style(container), path)
            for name, item in members.items()
        ]
        return self._insert_lines(container, len(own) - 1, lines, path)

    def take(self, container: YamlNode, doomed: list[int], lead: int | None) -> list[Splice]:
        """Take items out of a map or a list; `lead` is where its own value begins in a block."""
        if container.flow:
            return take_from(self._text, container, doomed)
        own = blocks(self._text, container)
        if len(doomed) == len(own):
            return self._emptied(container, own, lead)
        compact = bool(self._text[line_start(self._text, own[0].start) : own[0].start].strip())
        splices: list[Splice] = []
        for index in doomed:
            if compact and all(each in doomed for each in range(index + 1)):
                end = past_space(self._text, own[index].bottom)
                splices.append((own[index].start, end, ""))
            else:
                stays = max((each for each in range(index) if each not in doomed), default=None)
                before = None if stays is None else _last_leaf(container.values[stays])
                top, bottom = self._lines_of(own[index], before)
                if not index and 1 not in doomed:
                    # The blank lines part it from the next, which becomes the first.
                    bottom = past_blank(self._text, bottom)
                splices.append((top, bottom, ""))
        return splices

    def _lines_of(self, own: Block, before: YamlNode | None) -> tuple[int, int]:
        """The lines that go with an item; a block scalar above it keeps the line ends it has."""
        text, top, bottom = self._text, own.top, own.bottom
        if not BREAK.match(text, top):
            # There is no line above whose end could go with it.
            line = BREAK.match(text, bottom)
            return top, line.end() if line else bottom
        if before is None or before.style not in {"|", ">"} or "#" in text[before.end : top]:
            return top, bottom
        below = _COMMENT_BELOW.match(text, past_blank(text, bottom))
        # A block scalar without content takes any line that is indented more than its key.
        if below and len(below[1]) >= (content_indent(text, before) or own.column + 1):
            message = "the comment below it would become a part of the block scalar above it"
            raise refuse((), message, self.document.at(below.end()))
        if _would_join(text, bottom, before):
            bottom = past_blank(text, bottom)
        if bottom == len(text) and _ends_open(text, before) and (line := BREAK.match(text, top)):
            return line.end(), bottom
        return top, bottom

    def _emptied(self, container: YamlNode, own: list[Block], lead: int | None) -> list[Splice]:
        """The pieces of a block that loses all it has."""
        empty = "{}" if container.kind == "map" else "[]"
        if lead is None:
            return [(own[0].start, own[0].bottom, empty)]
        if line_end(self._text, lead) >= own[0].start:
            return [(own[0].start, own[-1].bottom, empty)]
        at = head_end(self._text, lead)
        return [(at, at, f" {empty}"), *((each.top, each.bottom, "") for each in own)]

    def _change_members(
        self, node: YamlNode, old: dict[str, Json], new: dict[str, Json], path: Path
    ) -> list[Splice]:
        names = self.document.reading.names(node)
        if gone := next((name for name in old if name not in new and name not in names), None):
            self._refuse_merged(node, (*path, gone))
        splices: list[Splice] = []
        for name, index in names.items():
            if name in new:
                splices += self.change(node, index, new[name], (*path, name))
        doomed = [index for name, index in names.items() if name not in new]
        added = {
            name: item
            for name, item in new.items()
            if name not in names and not (name in old and same(old[name], item))
        }
        if node.flow:
            splices += self._exchange(node, doomed, added, path)
        if doomed:
            splices += self.take(node, doomed, None)
        return splices + (self.add(node, added, path) if added else [])

    def _exchange(
        self, node: YamlNode, doomed: list[int], added: dict[str, Json], path: Path
    ) -> list[Splice]:
        """Write new members in the places of others that go, and take both from what is to do."""
        splices: list[Splice] = []
        while doomed and added:
            index, name = doomed.pop(0), next(iter(added))
            [written] = self._flow_members(node, {name: added.pop(name)}, path)
            splices.append((*flow_span(self._text, node, index), written))
        return splices

    def _flow_members(self, node: YamlNode, members: dict[str, Json], path: Path) -> list[str]:
        quoted = bool(node.keys) and node.keys[0].style == '"'
        return [flow_of({name: it}, path, quoted=quoted)[1:-1] for name, it in members.items()]

    def _change_elements(
        self, node: YamlNode, old: list[Json], new: list[Json], path: Path
    ) -> list[Splice]:
        head, tail = _shared(old, new)
        before, after = old[head : len(old) - tail], new[head : len(new) - tail]
        both = min(len(before), len(after))
        splices: list[Splice] = []
        for index in range(head, head + both):
            splices += self.change(node, index, new[index], (*path, index))
        doomed = [*range(head + both, head + len(before))]
        if doomed:
            splices += self.take(node, doomed, None)
        if more := after[both:]:
            splices += self._insert_elements(node, head + both, more, path)
        return splices

    def _insert_elements(
        self, node: YamlNode, position: int, items: list[Json], path: Path
    ) -> list[Splice]:
        """Put new elements into a list, before the one at a position."""
        if node.flow:
            quoted = bool(node.values) and node.values[0].style == '"'
            texts = [flow_of(item, path, quoted=quoted) for item in items]
            return put_in(self._text, node, position, texts)
        own = blocks(self._text, node)
        style = self._inner_style(node)
        lines = [element_lines(item, own[0].column, style, path) for item in items]
        if position:
            return self._insert_lines(node, position - 1, lines, path)
        pad = " " * own[0].column
        joined = self.style.newline.join(line for each in lines for line in each)
        return [(own[0].start, own[0].start, joined.removeprefix(pad) + self.style.newline + pad)]

    def fill(self, home: YamlNode, whole: Json, path: Path, *, block: bool) -> list[Splice]:
        """Put the first items into a map or a list in braces or brackets that is empty."""
        if block and isinstance(whole, dict) and home.end - home.inner == len("{}"):
            lines = [
                line
                for name, item in whole.items()
                for line in member_lines(name, item, 0, self.style, path)
            ]
            return [(home.inner, home.end, self.style.newline.join(lines))]
        return put_in(self._text, home, 0, [flow_of(whole, path)[1:-1]])

    def append(self, container: YamlNode, value: Json, path: Path) -> list[Splice]:
        """Put a new element at the end of a list."""
        return self._insert_elements(container, len(container.values), [value], path)

    def _insert_lines(
        self, node: YamlNode, after: int, lines: list[list[str]], path: Path
    ) -> list[Splice]:
        """Put lines below those of an item of a block."""
        newline, own = self.style.newline, blocks(self._text, node)
        last = _last_leaf(node.values[after])
        if own[after].end == len(self._text) and _ends_open(self._text, last):
            message = "the block scalar at the end of the file has no line end"
            raise refuse(path, message, self.document.at(last.start))
        parted = after == len(own) - 1 and self._parted(own)
        between = newline * 2 if parted and not _KEPT.match(self._text, last.inner) else newline
        text = "".join(between + newline.join(each) for each in lines)
        return [(own[after].bottom, own[after].bottom, text)]

    def _parted(self, own: list[Block]) -> bool:
        """Whether a blank line stands before the last item of a block."""
        return len(own) > 1 and bool(_BLANK_LINE.match(self._text, own[-2].bottom))

    def _inner_style(self, node: YamlNode) -> YamlStyle:
        """The style of a block, as far as its items show it."""
        own = blocks(self._text, node)
        style = self.style
        if node.kind == "list":
            gaps = [
                column(self._text, value.start) - each.column
                for each, value in zip(own, node.values, strict=True)
                if not value.empty and line_end(self._text, each.start) >= value.start
            ]
            return replace(style, inside=gaps[0]) if gaps else style
        for each, value in zip(own, node.values, strict=True):
            if (
                value.block
                and value.kind == "map"
                and value.inner > line_end(self._text, each.start)
            ):
                return replace(style, step=column(self._text, value.inner) - each.column)
        return style

    def replace_value(self, container: YamlNode, index: int, new: Json, path: Path) -> list[Splice]:
        """Give an item another value, written anew."""
        node = container.values[index]
        if container.flow:
            return self._replace_in_flow(container, index, new, path)
        lead = self.lead(container, index, path)
        style = "" if node.kind != "scalar" else node.style
        anchor = f" &{node.anchor}" if node.anchor else ""
        own = blocks(self._text, container)[index]
        if inline(new):
            written = f"{anchor} {scalar_of(new, path, like=style)}"
            return self._clear(node, lead, written)
        if container.kind == "map":
            lines = value_lines(new, own.column, self._inner_style(container), path)
            end = line_end(self._text, lead) if node.block else line_end(self._text, node.end)
            added = self.style.newline + self.style.newline.join(lines)
            return [*self._clear(node, lead, anchor), (end, end, added)]
        if anchor:
            raise refuse(path, "has an anchor, which a block in its place cannot keep")
        first, *rest = element_lines(new, own.column, self._inner_style(container), path)
        end = line_end(self._text, node.end)
        added = "".join(self.style.newline + line for line in rest)
        return [*self._clear(node, lead, first[own.column + 1 :]), (end, end, added)]

    def _clear(self, node: YamlNode, lead: int, new: str) -> list[Splice]:
        """Take out a value, and put a text at its beginning; a comment behind the key stays."""
        if not node.block:
            if past_space(self._text, lead) < node.start:
                return [(node.start, node.end, new.lstrip(" "))]
            return [(lead, max(node.end, lead), new)]
        last = line_end(self._text, node.end)
        head = line_end(self._text, lead)
        if head >= node.inner:
            return [(lead, last, new)]
        return [(lead, head_end(self._text, lead), new), (head, last, "")]

    def lead(self, container: YamlNode, index: int, path: Path) -> int:
        """Where the value of an item of a block begins: behind its colon or its dash."""
        text = self._text
        start = blocks(text, container)[index].start
        if container.kind == "list":
            return start + 1
        if text.startswith("?", start) and start != container.keys[index].start:
            raise refuse(path, "has a key of its own lines (?)", self.document.at(start))
        colon = mark(text, container.keys[index].end)
        return colon + 1

    def _replace_in_flow(
        self, container: YamlNode, index: int, new: Json, path: Path
    ) -> list[Splice]:
        node = container.values[index]
        quoted = bool(container.keys) and container.keys[0].style == '"'
        if inline(new):
            like = node.style if node.kind == "scalar" else '"' if quoted else ""
            written = scalar_of(new, path, flow=True, like=like)
        else:
            written = flow_of(new, path, quoted=quoted)
        if node.anchor:
            written = f"&{node.anchor} {written}"
        if node.end > node.start or container.kind == "list":
            return [(node.start, node.end, written)]
        key = container.keys[index]
        colon = mark(self._text, key.end)
        if self._text.startswith(":", colon):
            return [(colon + 1, colon + 1, f" {written}")]
        return [(key.end, key.end, f": {written}")]

    def _refuse_merged(self, node: YamlNode, path: Path) -> NoReturn:
        merge = next(key for key in node.keys if self.document.reading.merges(key))
        raise refuse(path, "comes from a merge key (<<)", self.document.at(merge.start))


def _last_leaf(node: YamlNode) -> YamlNode:
    while node.block:
        node = node.values[-1]
    return node


def _ends_open(text: str, node: YamlNode) -> bool:
    """Whether a line end behind a block scalar would become a part of it."""
    return node.style in {"|", ">"} and not _STRIPPED.match(text, node.inner)


def _would_join(text: str, bottom: int, node: YamlNode) -> bool:
    """Whether the blank lines below the end of a line would be content of a block scalar."""
    end = past_blank(text, bottom)
    lines = BREAK.split(text[bottom:end])[1:]
    if end == len(text) and lines and not lines[-1].strip(" "):
        # The last one has no line end, and counts only by its spaces.
        *lines, last = lines
        if len(last) > content_indent(text, node):
            return True
    if _KEPT.match(text, node.inner):
        return bool(lines)
    return any(len(line) > content_indent(text, node) for line in lines)


def _shared(old: list[Json], new: list[Json]) -> tuple[int, int]:
    """How many elements two lists begin and end with alike."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if not same(old[i], new[i])), least)
    least -= head
    tail = next((i for i in range(least) if not same(old[-1 - i], new[-1 - i])), least)
    return head, tail


def learn(document: YamlDocument) -> YamlStyle:
    """How a file is written, as far as its first blocks show it."""
    text = document.text
    style = YamlStyle(newline_of(text))
    root = document.root
    step: int | None = None
    dash: int | None = None
    for node in root.walk() if root else ():
        if node.flow or node.kind != "map":
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if not value.block or value.inner <= line_end(text, key.start):
                continue
            gap = column(text, value.inner) - column(text, key.start)
            if value.kind == "map":
                step = gap if step is None else step
            else:
                dash = gap if dash is None else dash
        if step is not None and dash is not None:
            break
    step = style.step if step is None else step
    return replace(style, step=step, dash=step if dash is None else dash)
