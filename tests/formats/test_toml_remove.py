"""Removing and renaming, and the guard that every edit passes."""

from dataclasses import replace

import pytest

from mcpyard.domain.errors import EditRefused
from mcpyard.formats.editors.toml import Names, parse, remove_table, rename_table
from mcpyard.formats.editors.toml_edit import remove
from mcpyard.formats.editors.toml_guard import TomlEdit
from mcpyard.formats.editors.toml_scan import scan

X = ("s", "x")


def test_a_table_goes_with_all_its_parts_and_their_comments() -> None:
    before = """# Codex
model = "o"

# about x
# and more
[s.x] # here
a = '''
[s.y]
'''
# between

b = 1
# after the last key

# about y
[s.y]
c = 1

  # secrets
  [s."x".env]
  K = "v"
[z]
[[s.x.list]]
[s.x.list.inner]
d = 1

# about the end
[end]
"""
    after = """# Codex
model = "o"

# after the last key

# about y
[s.y]
c = 1
[z]

# about the end
[end]
"""
    assert remove_table(before, X) == after
    crlf = remove_table(before.replace("\n", "\r\n"), X)
    assert crlf == after.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[s.x]\n", ""),
        ("[s.x]", ""),
        ("\n[s.x]\n\n", "\n\n"),
        ("\ufeff[s.x]\n\n[a]\n", "\ufeff[a]\n"),
        ("[s.x]\nk = 1\n\n\n[a]\n", "[a]\n"),
        ("[s.x]\n\n[s.x.e]\n\n[a]\n", "[a]\n"),
        ("[s.x]\n# loose\n\n[s.x.e]\n\n[a]\n", "# loose\n\n[a]\n"),
        ("[a]\n\n\n[s.x]\n\n[b]\n", "[a]\n\n[b]\n"),
        ("[a]\n[s.x]\n\n[b]\n", "[a]\n\n[b]\n"),
        ("[a]\n\n[s.x]\n[b]\n", "[a]\n[b]\n"),
        ("[a]\n\n[s.x]\n# b\n[b]\n", "[a]\n# b\n[b]\n"),
        ("[a]\n\n[s.x]\n# loose\n\n[b]\n", "[a]\n\n# loose\n\n[b]\n"),
        ("[a]\n\n[s.x]\n# loose", "[a]\n\n# loose"),
        ("# loose\n\n[s.x]\n[b]\n", "# loose\n\n[b]\n"),
        ("k = '''\n#'''\n\n[s.x]\n[b]\n", "k = '''\n#'''\n[b]\n"),
        ("[a]\n\n[s.x]", "[a]"),
        ("[a]\n\n[s.x]\n", "[a]\n"),
        ("[a]\n\n# loose\n\n[s.x]\n", "[a]\n\n# loose\n"),
        ("s.x.a = 1\nb = 1\ns.x.c.d = 1 # d\n", "b = 1\n"),
        ("s.x.a = 1\n[s.x.b]\nc = 1\n", ""),
        ("[s]\n# x\nx = {a = 1}\n\n[b]\n", "[s]\n\n[b]\n"),
        ("[s]\na = 1\nx = {}\nb = 1\n", "[s]\na = 1\nb = 1\n"),
        ("s = {x = {a = 1}}\n", "s = {}\n"),
        ("s = { x.a = 1, x.b = 2 }\n", "s = { }\n"),
        ("s = {x.a = 1, y = 1, x.b = 2} # c\n", "s = {y = 1} # c\n"),
        ("s = {y = 1, x.a = 1, x.b = 2}\n", "s = {y = 1}\n"),
    ],
)
def test_a_table_goes_with_the_blank_line_that_parted_it(before: str, after: str) -> None:
    assert remove_table(before, X) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 0\n# k\nk = 1 # k\nb = 2\n", "a = 0\nb = 2\n"),
        ("a = 0\n\nk = 1\nb = 2\n", "a = 0\n\nb = 2\n"),
        ("a = 0\n\nk = 1\n\nb = 2\n", "a = 0\n\nb = 2\n"),
        ("a = 0\n# loose\n\nk = 1\nb = 2\n", "a = 0\n# loose\n\nb = 2\n"),
        ("k = 1\n\n[b]\n", "[b]\n"),
        ("a = 0\nk = [\n1,\n]\n", "a = 0\n"),
        ("a = 0\r\nk = 1", "a = 0"),
        ("[[k]]\na = 1\n\n[b]\n\n[[k]]\n[k.c]\n", "[b]\n"),
        ("[k]\na = 1\n[b]\n", "[b]\n"),
    ],
)
def test_a_value_goes_with_its_line_and_the_comment_above(before: str, after: str) -> None:
    assert remove(scan(before), (), ["k"]) == after


def test_a_table_that_nothing_else_stood_for_is_gone_with_its_last_key() -> None:
    assert remove(scan("[a]\nb.c.d = 1\n"), ("a", "b", "c"), ["d"]) == "[a]\n"
    assert remove(scan("[a]\nb.c = 1\nb.d = 1\n"), ("a", "b"), ["c"]) == "[a]\nb.d = 1\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[s.x]\n[ s . x . e ]\n[s.xx]\n", "[s.n]\n[ s . n . e ]\n[s.xx]\n"),
        ("s.x.a = 1\ns.x.b.x = 1\nx = 1\n", "s.n.a = 1\ns.n.b.x = 1\nx = 1\n"),
        ("[s]\nx.x = 1\n[s.x.y]\n", "[s]\nn.x = 1\n[s.n.y]\n"),
        ("s = {x.a = 1, y = {x = 2}, x.b = 3}\n", "s = {n.a = 1, y = {x = 2}, n.b = 3}\n"),
        ("[s]\nx = {x = 1} # x\n", "[s]\nn = {x = 1} # x\n"),
        ("[s.'x']\n[s.\"x\".e]\n", "[s.'n']\n[s.\"n\".e]\n"),
        ("[s.x]\nk = '''\n[s.x]\n'''\n", "[s.n]\nk = '''\n[s.x]\n'''\n"),
        ("[[s.x.l]]\n[[s.x.l]]\n[s.x.l.x]\n", "[[s.n.l]]\n[[s.n.l]]\n[s.n.l.x]\n"),
    ],
)
def test_a_table_is_renamed_wherever_it_is_named(before: str, after: str) -> None:
    assert rename_table(before, X, "n") == after
    assert rename_table(after, ("s", "n"), "x") == before


@pytest.mark.parametrize(
    ("written", "name", "after"),
    [
        ("x", "my server", '"my server"'),
        ("'x'", "my server", "'my server'"),
        ("'x'", "it's", '"it\'s"'),
        ('"x"', "my server", '"my server"'),
        ('"\\u0078"', "y", "y"),
    ],
)
def test_a_new_name_is_quoted_where_it_must(written: str, name: str, after: str) -> None:
    assert rename_table(f"[s.{written}]", X, name) == f"[s.{after}]"


def test_the_same_name_changes_nothing() -> None:
    assert rename_table('[s."x"]', X, "x") == '[s."x"]'


@pytest.mark.parametrize(
    ("path", "name", "message"),
    [
        (("s", "x"), "y", ':2:1: s.x: "y" already exists'),
        (("s", "x"), "\udc00", "s.x: the name '\\udc00' cannot be written as UTF-8"),
        (("s", "no"), "y", "s.no: there is no such table"),
        (("s", "x", "k"), "y", ":4:5: s.x.k: is not a table"),
    ],
)
def test_a_rename_that_cannot_be_is_refused(path: Names, name: str, message: str) -> None:
    with pytest.raises(EditRefused) as caught:
        rename_table("[s.x.e]\n[s.y]\n[s.x]\nk = 1\n", path, name)
    assert str(caught.value) == message


def test_what_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(EditRefused, match=r"s\.no: there is no such table"):
        remove_table("[s]\n", ("s", "no"))
    with pytest.raises(EditRefused, match=r":2:5: s\.k: is not a table"):
        remove_table("[s]\nk = 1\n", ("s", "k"))


TEXT = "# top\n\na = 1\n\n[s.x]\nk = 1\n# own\nl = 2\n\n# about y\n[s.y]\n"


def refusal(edited: str, zone: Names = X, *, frees: bool = False, text: str = TEXT) -> str:
    value = parse(text).value
    edit = TomlEdit(parse(text), edited, value, zone, frees=frees)
    assert replace(edit, edited=text).guarded() == text
    with pytest.raises(EditRefused) as caught:
        edit.guarded()
    return caught.value.message


@pytest.mark.parametrize(
    "edited",
    [
        TEXT.replace("k = 1", "k = 2"),
        TEXT.replace("k = 1", "k = 1.0"),
        TEXT.replace("k = 1", "k = true"),
        TEXT.replace("# top", "# tip"),
        TEXT.replace("# top\n", "# top\n\n"),
        TEXT.replace("# top\n\n", "# top\n"),
        TEXT.replace("a = 1", "a =  1"),
        TEXT.replace("# about y\n", ""),
        TEXT.replace("# about y\n", "# about y\r\n"),
        TEXT.replace("[s.y]", " [s.y]"),
        TEXT + "# more\n",
        TEXT + "\n",
        "\ufeff" + TEXT,
    ],
)
@pytest.mark.parametrize("frees", [False, True])
def test_the_guard_refuses_a_text_that_is_not_what_was_asked(edited: str, frees: bool) -> None:
    message = "s.x: the edit would not give exactly what was asked"
    assert refusal(edited, frees=frees) == message


def test_the_guard_refuses_a_text_that_is_broken() -> None:
    message = "s.x: the edit would break the file: :12:1: invalid statement"
    assert refusal(TEXT + "?") == message


def test_the_guard_lets_a_comment_of_the_entry_become_nobodys_if_told() -> None:
    edited = TEXT.replace("l = 2\n", "").replace("k = 1", "l = 2\nk = 1")
    assert "exactly" in refusal(edited)
    edit = TomlEdit(parse(TEXT), edited, parse(TEXT).value, X, frees=True)
    assert edit.guarded() == edited


def test_the_guard_keeps_the_spelling_of_the_siblings_in_braces() -> None:
    text = "s = { y =  1, x = 2, z = 0x3 } # c\n"
    moved = text.replace("y =  1, x = 2", "y =  1,x = 2")
    assert TomlEdit(parse(text), moved, parse(text).value, X).guarded() == moved
    for edited in (
        text.replace("y =  1", "y = 1"),
        text.replace("0x3", "3"),
        text.replace("# c", "# d"),
        text.replace("s =", "s  ="),
    ):
        assert "exactly" in refusal(edited, text=text)


def test_the_guard_keeps_the_comments_on_lines_of_their_own_in_braces() -> None:
    text = "s = {\n  # about y\n  y = 1, # tail\n  x = 2,\n}\n"
    for edited in (text.replace("  # about y\n", ""), text.replace("about", "of")):
        assert "exactly" in refusal(edited, text=text)


def test_the_guard_refuses_a_text_that_would_need_toml_1_1() -> None:
    text = "s = { y = 1, x = 2 }\n"
    message = "s.x: the edit would need TOML 1.1, which the file did not"
    assert refusal("s = { y = 1, x = 2, }\n", text=text) == message
    newer = f'{text}t = "\\e"\n'
    edited = newer.replace("2 }", "2, }")
    assert TomlEdit(parse(newer), edited, parse(newer).value, X).guarded() == edited
