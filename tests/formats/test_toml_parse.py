"""Reading TOML: values, places, and sentences about what is wrong."""

import datetime as dt
import tomllib

import pytest

from mcpyard.domain.errors import DocumentBroken, EditRefused, SourceLocation
from mcpyard.formats.editors.jsonc_scan import Path
from mcpyard.formats.editors.toml import parse, put_table, set_value

CONFIG = """# Codex
model = "o"
mcp_servers.dotted.command = "a"
mcp_servers.dotted.env.KEY = "b"

[mcp_servers.files]
command = "npx"
args = ["-y", { name = "x", of.a.kind = 1 }]

  [ mcp_servers . "my server".env ]
  KEY = '''
[mcp_servers.not]
'''

[[profiles]]
name = "one"
[[profiles]]
[profiles.inner]
name = "two"
[[profiles.list]]

[tools]
inline = {web = {on = true}, x.y = 1}
"""


def fault(text: str) -> tuple[int, int, str]:
    with pytest.raises(DocumentBroken) as caught:
        parse(text, file="c.toml")
    (problem,) = caught.value.problems
    assert problem.place is not None
    assert problem.place.file == "c.toml"
    return problem.place.line, problem.place.column, problem.message


@pytest.mark.parametrize("text", [CONFIG, CONFIG.replace("\n", "\r\n"), "\ufeff" + CONFIG, ""])
def test_the_value_is_that_of_the_parser(text: str) -> None:
    document = parse(text)
    assert document.value == tomllib.loads(text.removeprefix("\ufeff"))
    assert document.text == text


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("model",), 2, 9),
        (("mcp_servers",), 3, 1),
        (("mcp_servers", "dotted"), 3, 1),
        (("mcp_servers", "dotted", "command"), 3, 30),
        (("mcp_servers", "dotted", "env"), 4, 1),
        (("mcp_servers", "files"), 6, 1),
        (("mcp_servers", "files", "args", 0), 8, 9),
        (("mcp_servers", "files", "args", 1, "name"), 8, 24),
        (("mcp_servers", "files", "args", 1, "of", "a"), 8, 29),
        (("mcp_servers", "files", "args", 1, "of", "a", "kind"), 8, 41),
        (("mcp_servers", "my server"), 10, 3),
        (("mcp_servers", "my server", "env", "KEY"), 11, 9),
        (("profiles",), 15, 1),
        (("profiles", 1), 17, 1),
        (("profiles", 1, "inner", "name"), 19, 8),
        (("profiles", 1, "list", 0), 20, 1),
        (("tools", "inline", "web", "on"), 23, 23),
        (("tools", "inline", "x"), 23, 30),
    ],
)
@pytest.mark.parametrize("before", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_place_is_where_the_value_header_or_dotted_key_starts(
    path: Path, line: int, column: int, before: str, newline: str
) -> None:
    document = parse(before + CONFIG.replace("\n", newline), file="c.toml")
    assert document.has(path)
    assert document.place(path) == SourceLocation("c.toml", line, column)


def test_the_header_of_a_table_is_its_place_even_below_its_sub_table() -> None:
    document = parse("[a.b.c]\n[a.b]\n")
    assert document.place(("a", "b")).line == 2
    assert document.place(("a",)).line == 1


@pytest.mark.parametrize(
    "path", [("no",), ("model", "x"), ("profiles", 2), ("profiles", "name"), ("tools", 0)]
)
def test_what_is_not_there_has_no_place(path: Path) -> None:
    document = parse(CONFIG)
    assert not document.has(path)
    with pytest.raises(LookupError):
        document.place(path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nb = \n", (2, 5, "invalid value")),
        ("a", (1, 2, "expected '=' after a key in a key/value pair")),
        ("a = 1\r\n[b", (2, 3, "expected ']' at the end of a table declaration")),
        ("[a.b]\nc = 1\n[a.b]\n", (3, 5, "cannot declare a.b twice")),
        ("[a]\n[a]\n", (2, 3, "cannot declare a twice")),
        ("a = 1\na.b = 2\n", (2, 8, "cannot overwrite a value")),
        ("\n a = " + "1" * 5000, (2, 6, "the number has too many digits")),
        ("a = " + "[" * 5000, (1, 1, "nested too deeply: more than 100 levels")),
        ("a = 1\n" + ".".join("a" * 200) + " = 1", (2, 404, "cannot overwrite a value")),
        (".".join("a" * 99_999) + " = 1", (1, 1, "nested too deeply: more than 100 levels")),
        (".".join("a" * 200) + " = 1", (1, 1, "nested too deeply: more than 100 levels")),
    ],
)
def test_a_broken_text_is_told_with_its_place(text: str, expected: tuple[int, int, str]) -> None:
    assert fault(text) == expected


def test_a_column_does_not_count_the_bom() -> None:
    assert fault("\ufeffa ? 1") == fault("a ? 1")


def test_a_broken_text_is_not_edited() -> None:
    with pytest.raises(DocumentBroken, match=":1:5: invalid value"):
        put_table("a = ", ("b",), {})


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (("model", "x"), ":2:9: model: is not a table"),
        (("profiles", "x", "y"), ":15:1: profiles: is not a table"),
        (("mcp_servers", "files", "args", "x"), ":8:8: mcp_servers.files.args: is not a table"),
    ],
)
def test_a_path_through_what_is_no_table_is_refused_naming_it(path: Path, message: str) -> None:
    with pytest.raises(EditRefused) as caught:
        set_value(CONFIG, tuple(map(str, path)), 1)
    assert str(caught.value) == message


NEWER = """title = "\\e[1m\\x41"
at = 07:32
moment = 1979-05-27T07:32Z
env = { A = "b", }

[mcp_servers]
x = {
  command = "npx", # the program
  # of ours
  args = ["-y"],
}
"""


def test_toml_1_1_is_read_with_its_places() -> None:
    document = parse(NEWER, file="c.toml")
    assert document.value["title"] == "\x1b[1mA"
    assert document.value["at"] == dt.time(7, 32)
    assert document.value["moment"] == dt.datetime(1979, 5, 27, 7, 32, tzinfo=dt.UTC)
    assert document.value["env"] == {"A": "b"}
    assert document.value["mcp_servers"] == {"x": {"command": "npx", "args": ["-y"]}}
    assert document.place(("mcp_servers", "x", "args")) == SourceLocation("c.toml", 10, 10)


def test_the_first_thing_that_toml_1_0_has_not_is_named() -> None:
    newer = parse(NEWER, file="c.toml").newer
    assert newer is not None
    assert newer.place == SourceLocation("c.toml", 1, 12)
    assert parse(CONFIG).newer is None
    assert parse("\ufeff").newer is None
