"""Files of any client as people could have left them: their order, their comments, their habits."""

import json
import re
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from mcpyard.formats.editors.toml_style import inline, key
from mcpyard.formats.editors.yaml_style import YamlStyle, element_lines, member_lines
from mcpyard.formats.entries import Entry, spell
from mcpyard.formats.facts import FileFormat
from mcpyard.formats.locations import ClientScopeRef
from tests.formats.clients.making import entries

OTHER = {"theme": "dark", "note": "// no comment, } or #", "deep": {"list": [1, {"a": None}]}}
SERVER_NAMES = ("files", "docs", "a b", "é.x", 'q"')
COMMENTS = st.sampled_from(["", "", "mine", "}, ] # [x]"])
LINE_ENDS = st.sampled_from(["\n", "\n", "\r\n"])


def named(ref: ClientScopeRef, most: int = 3) -> st.SearchStrategy[dict[str, Entry]]:
    """Servers by their names; a file can have names that its program would not give."""
    return st.dictionaries(st.sampled_from(SERVER_NAMES), entries(ref), max_size=most)


@st.composite
def files(draw: st.DrawFn, ref: ClientScopeRef, servers: Mapping[str, Entry]) -> str:
    """A file of the client with these servers, and with other things before and after them."""
    raw = {name: spell(entry, ref.shape) for name, entry in servers.items()}
    if ref.client.format in {FileFormat.YAML, FileFormat.YAML_1_1}:
        text = draw(_yaml(ref, raw))
    elif ref.client.format is not FileFormat.TOML:
        text = draw(_json(ref, raw))
    elif ref.shape.name_key:
        text = draw(_toml_list([{ref.shape.name_key: name, **raw[name]} for name in raw]))
    else:
        text = draw(_toml(raw))
    text = text.replace("\n", draw(LINE_ENDS))
    return ("\ufeff" if ref.client.bom and draw(st.booleans()) else "") + text


@st.composite
def _yaml(draw: st.DrawFn, ref: ClientScopeRef, raw: Mapping[str, dict[str, Any]]) -> str:
    above, beside = draw(COMMENTS), draw(COMMENTS)
    step = draw(st.sampled_from([2, 4]))
    style = YamlStyle(step=step, dash=draw(st.sampled_from([0, step])))
    pad, [key] = " " * step, ref.shape.keys
    entries: list[str] = []
    for name, entry in raw.items():
        entries += [f"{pad}# {above}"] if above else []
        if ref.shape.name_key:
            named = {ref.shape.name_key: name, **entry}
            entries += element_lines(named, step, style, ())
        else:
            own = {ref.shape.own_name: name} if ref.shape.own_name else {}
            entries += member_lines(name, {**own, **entry}, step, style, ())
        entries[-1] += f" # {beside}" if beside else ""
    empty = "[]" if ref.shape.name_key else "{}"
    servers = [f"{key}:", *entries] if entries else [f"{key}: {empty}"]
    before = ["# mine", "theme: dark  # mine", "deep: {list: [1, {a: null}]}", ""]
    after = ["other:", "- 'no: # comment'", "- |", "  files:", ""]
    lines = [*(before if draw(st.booleans()) else ()), *servers]
    lines += after if draw(st.booleans()) else []
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@st.composite
def _json(draw: st.DrawFn, ref: ClientScopeRef, raw: Mapping[str, object]) -> str:
    nested: dict[str, Any] = dict(raw)
    for step in reversed((*ref.above, *ref.shape.keys)):
        nested = {step: nested}
    before, after = draw(st.booleans()), draw(st.booleans())
    value = {**(OTHER if before else {}), **nested, **({"last": OTHER} if after else {})}
    indent = draw(st.sampled_from([2, 4, "\t", None]))
    text = json.dumps(value, indent=indent, ensure_ascii=draw(st.booleans()))
    if indent is not None and ref.client.format is FileFormat.JSONC:
        text = _commented(text, raw, draw(COMMENTS), draw(COMMENTS), comma=draw(st.booleans()))
    return text + draw(st.sampled_from(["", "\n"]))


def _commented(
    text: str, raw: Mapping[str, object], above: str, beside: str, *, comma: bool
) -> str:
    """The text with a comment above each server and one beside some lines, and trailing commas."""
    output: list[str] = []
    lines = text.split("\n")
    spelt = tuple(json.dumps(name, ensure_ascii=ascii_) for name in raw for ascii_ in (True, False))
    for index, line in enumerate(lines):
        stripped = line.lstrip()
        space = line[: len(line) - len(stripped)]
        if above and stripped.startswith(spelt) and stripped.endswith("{"):
            output.append(f"{space}// {above}")
        closing = index + 1 < len(lines) and lines[index + 1].lstrip()[:1] in {"}", "]"}
        if comma and closing and not re.search(r"[{\[,]$", line):
            line += ","  # noqa: PLW2901  the line is what is being written
        output.append(f"{line} // {beside}" if beside and line.endswith('",') else line)
    return "\n".join(output)


@st.composite
def _toml(draw: st.DrawFn, raw: Mapping[str, Mapping[str, Any]]) -> str:
    above, beside = draw(COMMENTS), draw(COMMENTS)
    blank = draw(st.sampled_from(["", "\n", "\n\n"]))
    head = 'theme = "dark"  # mine\n' if draw(st.booleans()) else ""
    tables: list[str] = []
    for name, entry in raw.items():
        style = draw(st.sampled_from(["tables", "inline", "dotted"]))
        if style == "dotted":
            path = f"mcp_servers.{key(name)}"
            head += "".join(
                f"{path}.{key(word)} = {inline(value)}\n" for word, value in entry.items()
            )
        else:
            comment = f"# {above}\n" if above else ""
            tables.append(comment + _table(name, entry, beside, split=style == "tables"))
    last = "[other]\nlist = [\n  1, # one\n]\n" if draw(st.booleans()) else ""
    parts = [each for each in (head, *tables, last) if each]
    return blank.join(parts)


@st.composite
def _toml_list(draw: st.DrawFn, raw: list[dict[str, Any]]) -> str:
    above, beside = draw(COMMENTS), draw(COMMENTS)
    blank = draw(st.sampled_from(["", "\n", "\n\n"]))
    style = draw(st.sampled_from(["tables", "inline", "line"]))
    if style == "line":
        tables = [f"mcp_servers = {inline([*raw])}\n"]
    else:
        comment = f"# {above}\n" if above else ""
        split = style == "tables"
        tables = [comment + _filled("mcp_servers", each, beside, split, "[[{}]]") for each in raw]
    head = 'theme = "dark"  # mine\n' if draw(st.booleans()) else ""
    last = "[other]\nlist = [\n  1, # one\n]\n" if draw(st.booleans()) else ""
    return blank.join(each for each in (head, *tables, last) if each)


def _table(name: str, entry: Mapping[str, Any], beside: str, *, split: bool) -> str:
    """A server as a table, its objects as tables of their own or inline."""
    return _filled(f"mcp_servers.{key(name)}", entry, beside, split, "[{}]")


def _filled(header: str, entry: Mapping[str, Any], beside: str, split: bool, form: str) -> str:
    text = form.format(header) + "\n"
    below = ""
    for word, value in entry.items():
        if split and isinstance(value, dict):
            pairs = "".join(f"{key(each)} = {inline(inner)}\n" for each, inner in value.items())
            below += f"[{header}.{key(word)}]\n{pairs}"
        else:
            text += f"{key(word)} = {inline(value)}" + (f" # {beside}\n" if beside else "\n")
    return text + below
