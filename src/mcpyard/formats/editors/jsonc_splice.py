"""Items put into a container's text and taken out of it, and values rewritten in place.

Taking out is the inverse of putting in, to the byte. That is why a new item goes directly behind
the last one and not behind the comments that follow it (it would own them). Only of an empty
container with line ends between its brackets nothing but the brackets comes back: a first item on a
line of its own takes their place.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, cast

from msgspec.structs import replace

from mcpyard.formats.editors.jsonc_gaps import LINE_END, Gap, gap
from mcpyard.formats.editors.jsonc_scan import OUTERMOST, Json, JsonContainer, read
from mcpyard.formats.editors.jsonc_style import (
    Style,
    atom,
    learn,
    line_indent,
    render,
)
from mcpyard.formats.editors.jsonc_values import changed_elements, left_out, same

_NEW_LINE: Final = re.compile(r"(?:\r\n|\r|\n)[ \t]*")


class NewItem(NamedTuple):
    """What is to be put in: a member, or an element if it has no name."""

    name: str | None
    value: Json


def insert(text: str, container: JsonContainer, entries: Iterable[NewItem], style: Style) -> str:
    """Put entries at the end of a container, in the container's style."""
    parts = [_rendered(entry, style) for entry in entries]
    if container.items:
        return _append(text, container, parts, style)
    inside = gap(text, container.opening + 1, container.closing, closing=True)
    if not inside.comments:
        return _fill(text, container, parts, style)
    start = style.newline + style.inner if inside.ends_line() else style.gap
    return text[: inside.tail] + start + f",{start}".join(parts) + text[inside.tail :]


def remove(text: str, container: JsonContainer, doomed: Collection[int]) -> str:
    """Take items out of a container, by their positions in it."""
    end, closing = container.closing, True
    # From the back, so that the offsets of the items in front stay true.
    for index in reversed(range(len(container.items))):
        if index in doomed:
            text, end = _remove_one(text, container, index, end, closing=closing)
        else:
            end, closing = container.items[index].key_start, False
    return text


def rewrite(text: str, old: Json, new: Json, style: Style) -> str:
    """The text of a value, changed to give another value, touching what differs only.

    The style is that of the container around; `outer` is the indentation of the value's line.
    """
    if same(old, new):
        return text
    if isinstance(old, dict) and isinstance(new, dict):
        return _rewrite_object(text, old, new, style)
    if isinstance(old, list) and isinstance(new, list):
        return _rewrite_array(text, old, new, style)
    return render(new, style, style.outer)


def _rendered(entry: NewItem, style: Style) -> str:
    value = render(entry.value, style, style.inner)
    return value if entry.name is None else atom(entry.name) + style.colon + value


def _append(text: str, container: JsonContainer, parts: list[str], style: Style) -> str:
    end = container.items[-1].end
    after = gap(text, end, container.closing, closing=True)
    broken = after.slashed or not style.flat
    start = style.newline + style.inner if broken else style.gap
    body = start + f",{start}".join(parts)
    if after.comma >= 0:
        return text[: after.stop] + body + "," + text[after.stop :]
    comma = end if broken else after.stop
    return "".join((text[:comma], ",", text[comma : after.stop], body, text[after.stop :]))


def _fill(text: str, container: JsonContainer, parts: list[str], style: Style) -> str:
    space = text[container.opening + 1 : container.closing]
    if style.flat and not LINE_END.search(space):
        inside = space + f",{style.gap}".join(parts) + space
    else:
        line = style.newline + style.inner
        inside = line + f",{line}".join(parts) + style.newline + style.outer
    return text[: container.opening + 1] + inside + text[container.closing :]


def _remove_one(
    text: str, container: JsonContainer, index: int, end: int, *, closing: bool
) -> tuple[str, int]:
    item = container.items[index]
    start = container.items[index - 1].end if index else container.opening + 1
    before = gap(text, start, item.key_start, closing=False)
    after = gap(text, item.end, end, closing=closing)
    alone = closing and index == 0
    if alone and min(before.comments, default=end) >= before.lead and not _notes(after):
        space = text[max(after.tail, after.comma + 1) : end]
        left = _left_over(text[start : before.lead], space)
        return text[:start] + left + text[end:], start + len(left)
    cuts = _cuts(before, after, closing=closing, first=index == 0)
    size = len(text)
    for cut_start, cut_end in sorted(cuts, reverse=True):
        text = text[:cut_start] + text[cut_end:]
    return text, end - (size - len(text))


def _notes(after: Gap) -> bool:
    """Whether comments remain behind an item that goes."""
    return max(after.comments, default=-1) >= after.tail


def _cuts(before: Gap, after: Gap, *, closing: bool, first: bool) -> list[tuple[int, int]]:
    """The spans that go with an item, one comma among them."""
    own_comma_below = after.comma >= after.tail
    comma_in_front = before.comma >= before.tail and not _notes(before)
    if comma_in_front and after.ends_line() and (own_comma_below or after.comma < 0):
        return [(before.tail, after.tail)]
    cuts = [_cut(before, after, closing=closing)]
    if own_comma_below:
        cuts.append((after.comma, after.comma + 1))
    elif closing and after.comma < 0 and not first:
        cuts.append((before.comma, before.comma + 1))
    return cuts


def _cut(before: Gap, after: Gap, *, closing: bool) -> tuple[int, int]:
    """The span of an item, its comments and its line."""
    new_line = before.breaks_line()
    if not after.ends_line():
        if not closing and after.is_blank_to_end():
            return before.lead, after.end
        if new_line and (before.slashed or not closing):
            return before.lead, after.tail
    start = before.free
    if new_line and not (after.opens_blank() or (closing and after.is_blank_to_end())):
        start = list(_NEW_LINE.finditer(before.text, before.free, before.lead))[-1].start()
    return start, after.tail


def _left_over(before: str, after: str) -> str:
    """The white space that an emptied container had before its only item was put in."""
    return before if before == after and not LINE_END.search(before) else ""


def _outline(text: str) -> JsonContainer:
    return cast("JsonContainer", read(text, OUTERMOST).root.container)


def _rewrite_object(text: str, old: dict[str, Json], new: dict[str, Json], style: Style) -> str:
    container = _outline(text)
    local = learn(text, container, style)
    in_force = {item.name: item for item in container.items if item.name in new}
    for item in sorted(in_force.values(), key=lambda item: item.start, reverse=True):
        name = cast("str", item.name)
        indent = line_indent(text, item.key_start, style.outer)
        span = text[item.start : item.end]
        changed = rewrite(span, old[name], new[name], replace(local, outer=indent))
        text = text[: item.start] + changed + text[item.end :]
    text = _without(text, {i for i, it in enumerate(container.items) if it.name not in new})
    fresh = [NewItem(name, value) for name, value in new.items() if name not in old]
    return _with(text, fresh, style)


def _rewrite_array(text: str, old: list[Json], new: list[Json], style: Style) -> str:
    if len(old) == len(new):
        return _rewrite_elements(text, old, new, style)
    gone = left_out(old, new, same)
    if gone is not None:
        return _without(text, gone)
    start, end, fresh = changed_elements(old, new, same)
    shared = start + min(end - start, len(fresh))
    text = _without(text, range(shared, end))
    text = _rewrite_elements(text, old[:shared] + old[end:], new[:shared] + old[end:], style)
    return _with_elements(text, shared, fresh[shared - start :], style)


def _rewrite_elements(text: str, old: list[Json], new: list[Json], style: Style) -> str:
    container = _outline(text)
    local = learn(text, container, style)
    for item, before, after in reversed(list(zip(container.items, old, new, strict=True))):
        indent = line_indent(text, item.start, style.outer)
        changed = rewrite(text[item.start : item.end], before, after, replace(local, outer=indent))
        text = text[: item.start] + changed + text[item.end :]
    return text


def _with_elements(text: str, index: int, fresh: list[Json], style: Style) -> str:
    """The text of an array with new elements in front of the one at a position, or at its end."""
    container = _outline(text)
    if index == len(container.items):
        return _with(text, [NewItem(None, value) for value in fresh], style)
    local = learn(text, container, style)
    item = container.items[index]
    start = container.items[index - 1].end if index else container.opening + 1
    before = gap(text, start, item.start, closing=False)
    comma = "," + (local.newline + local.inner if before.breaks_line() else local.gap)
    parts = "".join(render(value, local, local.inner) + comma for value in fresh)
    return text[: before.lead] + parts + text[before.lead :]


def _without(text: str, doomed: Collection[int]) -> str:
    return remove(text, _outline(text), doomed) if doomed else text


def _with(text: str, fresh: list[NewItem], style: Style) -> str:
    if not fresh:
        return text
    container = _outline(text)
    return insert(text, container, fresh, learn(text, container, style))
